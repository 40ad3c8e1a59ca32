# %% [markdown]
# # A first contribution
# From a gap in the tree to the places that closing it touches, the tests that cover them and the
# people who review them: everything here is read from the source at hand.

# %%
from indexes.queries.contribution.plan import Contributions
from indexes.queries.gaps.find import find_gaps
from indexes.queries.gaps.model import GapFilter
from indexes.queries.index import Index
from indexes.source.source import Source

index = Index.open(Source.find())
print(index.info.kind, index.info.version)

# %% [markdown]
# ## What is missing
# `torchnav gaps` finds what PyTorch's own files say is missing, or what its rules ask for: a
# docstring that disagrees with its schema, a test that is expected to fail, a kernel that other
# back ends have. A kind that the source at hand can't tell says why.

# %%
found = find_gaps(index, GapFilter(confidence="likely"))
for kind in found.counts:
    if kind.count:
        print(f"{kind.count:>6} {kind.kind}")
assert found.gaps, "every tree has some"
assert all(gap.location.path for gap in found.gaps), "each has a place"

# %% [markdown]
# ## Seen with one's own eyes
# The line that makes it a gap is evidence, not opinion: it can be opened.

# %%
gap = found.gaps[0]
lines = index.read(gap.location.path).splitlines()
print(gap.what, gap.location, sep="\n")
print(lines[gap.location.line - 1].strip())
assert 1 <= gap.location.line <= len(lines), "the line is in the file"
assert gap.rule, "and the rule by which it is a gap is said"

# %% [markdown]
# ## What a change touches
# `torchnav contribute NAME` lists, for an operator such as [[aten::gcd]], the entries, kernels,
# formulas and tests that a change of it may have to touch, in the order of work.

# %%
plan = Contributions(index).of("gcd", "cpu", 0)
for step in plan.steps[:8]:
    print(step.location)
entry = index.native("gcd").location
assert entry.path in plan.files, "native_functions.yaml is among them"
assert plan.commands or plan.missing, "how to test it is said, or what the source lacks for that"

# %% [markdown]
# ## How it is tested
# Hundreds of tests run over the OpInfos of [[common_methods_invocations.py]], one entry for each
# operator: for a new one it is the first test to write. `torchnav contribute` prints the
# commands that run the tests of one operator alone. The rest of the way, from fork to merge,
# is `torchnav pr`.

# %%
entries = index.read("torch/testing/_internal/common_methods_invocations.py")
assert "'gcd'" in entries, "gcd has an OpInfo"
