"""Files about the project: owners, reviewers, guides, torchgen's lists."""
