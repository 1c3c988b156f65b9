"""Golden cases: typed questions with proven answers, their generators and their comparison."""

from nl2net.golden.case import GraphSource, Pair
from nl2net.golden.recipes import build_graph
from nl2net.golden.pairs import development_pairs
def equal_results(a, b):
    return a.result.data == b.result.data
