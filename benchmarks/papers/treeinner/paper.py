"""What was published and what an independent re-run gave: Table 4 of Sun 2022.

Mean AUC over replications, in brackets the standard deviation (n - 1). The paper has 20
replications. The re-run, on stock XGBoost, has 20 for ChIP and 40 for Simulated and kept no
standard deviations. The last line is the risk on held-out rows. The authors' random streams are
lost, so agreement can only be statistical.
"""

import re
from dataclasses import dataclass

from benchmarks.papers.treeinner.methods import Cell
from benchmarks.papers.treeinner.protocol import TASKS, Task

N_PAPER = 20
N_RE_RUN = {"ChIP": 20, "Simulated": 40}
RISK = Cell("risk", "valid", "-")

# ChIP and Simulated, classification and regression each.
PAPER = """
Abs train PreDecomp         | .8581 (.1200) | .9399 (.0681) | .6564 (.1334) | .3533 (.1853)
Abs train TreeSHAP          | .8651 (.1181) | .9413 (.0688) | .6749 (.1356) | .3776 (.1983)
Abs valid PreDecomp         | .8599 (.1172) | .9383 (.0693) | .6500 (.1364) | .3513 (.1849)
Abs valid TreeSHAP          | .8643 (.1190) | .9405 (.0696) | .6731 (.1361) | .3773 (.1988)
ForestInner train PreDecomp | .7953 (.1207) | .9172 (.0663) | .4876 (.1379) | .2147 (.1183)
ForestInner train TreeSHAP  | .8640 (.1060) | .9461 (.0651) | .6764 (.1337) | .3651 (.1993)
ForestInner valid PreDecomp | .7975 (.1619) | .9229 (.0917) | .7722 (.1254) | .6380 (.0976)
ForestInner valid TreeSHAP  | .7553 (.1727) | .8867 (.0837) | .7191 (.1438) | .6429 (.0965)
Permutation train -         | .8367 (.1091) | .9369 (.0725) | .6712 (.1386) | .3769 (.2002)
Permutation valid -         | .8275 (.1245) | .9472 (.0587) | .6599 (.1097) | .5493 (.1392)
TreeInner train PreDecomp   | .8043 (.1213) | .9235 (.0694) | .5091 (.1429) | .2278 (.1272)
TreeInner train TreeSHAP    | .8645 (.1081) | .9472 (.0661) | .6798 (.1356) | .3673 (.1989)
TreeInner valid PreDecomp   | .8671 (.1071) | .9604 (.0618) | .7856 (.1277) | .6384 (.0953)
TreeInner valid TreeSHAP    | .8756 (.1021) | .9528 (.0734) | .7520 (.1541) | .6496 (.1015)
risk valid -                | .4673 (.0168) | .1504 (.0867) | .4745 (.0191) | 6.8457 (1.6117)
"""
RE_RUN = """
Abs train PreDecomp         | .8882 | .9267 | .6074 | .2797
Abs train TreeSHAP          | .8927 | .9237 | .6242 | .2903
Abs valid PreDecomp         | .8910 | .9275 | .6064 | .2796
Abs valid TreeSHAP          | .8943 | .9240 | .6243 | .2906
ForestInner train PreDecomp | .8502 | .9063 | .4378 | .2052
ForestInner train TreeSHAP  | .9023 | .9331 | .6143 | .2803
ForestInner valid PreDecomp | .8818 | .9160 | .7490 | .6153
ForestInner valid TreeSHAP  | .8615 | .8996 | .7234 | .6321
Permutation train -         | .8582 | .9321 | .6082 | .2884
Permutation valid -         | .8634 | .9215 | .6768 | .5639
TreeInner train PreDecomp   | .8559 | .9144 | .4613 | .2184
TreeInner train TreeSHAP    | .8977 | .9339 | .6172 | .2824
TreeInner valid PreDecomp   | .9139 | .9709 | .7670 | .6100
TreeInner valid TreeSHAP    | .9119 | .9696 | .7644 | .6320
risk valid -                | .4599 | .1304 | .4714 | 7.6455
"""


@dataclass(frozen=True)
class Published:
    """One cell: the paper's mean and standard deviation, and the re-run's mean."""

    mean: float
    deviation: float
    re_run: float


def read_columns(text: str) -> dict[tuple[Task, Cell], list[float]]:
    """Return the numbers of every cell by task and line."""
    cells = {}
    for line in text.strip().splitlines():
        name, *columns = line.split("|")
        for task, column in zip(TASKS, columns, strict=True):
            cells[task, Cell(*name.split())] = [float(x) for x in re.findall(r"[\d.]+", column)]
    return cells


CELLS, MEANS = read_columns(PAPER), read_columns(RE_RUN)
assert CELLS.keys() == MEANS.keys()  # both blocks have the same lines
PUBLISHED = {key: Published(*numbers, *MEANS[key]) for key, numbers in CELLS.items()}
