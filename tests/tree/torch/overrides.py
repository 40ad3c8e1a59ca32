def get_testing_overrides():
    return {}
