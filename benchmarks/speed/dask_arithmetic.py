"""What travels for a tree on a cluster, and what the process that leads has to do: arithmetic.

    python -m benchmarks.speed.dask_arithmetic

The numbers of bins and bytes are those of ``gbt.training.shares``. Of a tree of depth D the root
and the smaller child of every split down to depth D - 1 send histograms: 2^(D-1) of them at most.
How many coarse bins are looked into depends on the targets; 4 % of them was measured in the first
trees, 40 to 70 % where nothing is left to explain. The network carries a gigabyte a second, which
is 10 Gbit/s less what protocols take; the leader adds 64-bit integers up at 1e9 a second.
"""

from benchmarks.study.tables import markdown
from gbt.training.shares.edges import BITS, MOST_COARSE

DEPTH = 6
# g, and |g| with the number of rows, where all hessians are 1: 16 but for bytes that none needs.
BYTES_OF_BIN = 13.5
NETWORK, ADDED = 1e9, 1e9  # bytes and integers a second
SHARES = {"signal": 0.04, "noise": 0.6}  # of coarse bins that are looked into
TABLES = [(1_000_000, 20, 2), (10_000_000, 20, 10), (1_000_000_000, 100, 100)]


def row_of(n_rows: int, n_columns: int, n_workers: int, kind: str) -> list[str]:
    """Return a line of the table, as words."""
    share = SHARES[kind]
    n_coarse = n_columns * (MOST_COARSE + 1)
    coarse = 2 ** (DEPTH - 1) * n_coarse * BYTES_OF_BIN
    n_nodes = 2**DEPTH - 1
    fine = share * n_nodes * n_coarse * 2**BITS * BYTES_OF_BIN
    of_worker = coarse + fine
    of_leader = of_worker * n_workers
    seconds = of_leader / NETWORK + of_leader / 8 / ADDED
    in_columns = 2 * of_worker / NETWORK + of_worker / 8 / ADDED
    memory = n_rows / n_workers * (7 * n_columns + 50) / 1e9
    return [
        f"{n_rows:,} x {n_columns}", f"{n_workers}", kind, f"{memory:.1f}",
        f"{of_worker / 1e6:,.0f}", f"{of_leader / 1e9:,.2f}", f"{seconds:.2f}", f"{in_columns:.2f}",
    ]  # fmt: skip


def main() -> None:
    """Print a table."""
    head = [
        "rows x columns", "workers", "targets", "GB of a worker", "MB a tree of a worker",
        "GB at the leader", "s a tree, gathered", "s a tree, if added up by columns",
    ]  # fmt: skip
    print(markdown(head, [row_of(*table, kind) for table in TABLES for kind in SHARES]))


if __name__ == "__main__":
    main()
