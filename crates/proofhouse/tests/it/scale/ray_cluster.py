"""A Ray cluster of two nodes on this machine; the second goes away while the driver's shards are under way."""

import os
import subprocess
import sys
import threading

from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
second = cluster.add_node(num_cpus=2)
cluster.wait_for_nodes()
driver = subprocess.Popen(
    [sys.executable, sys.argv[1]], stderr=subprocess.PIPE, text=True, env={**os.environ, "RAY_ADDRESS": cluster.address}
)
removed = False
for line in driver.stderr:
    sys.stderr.write(line)
    if not removed and ": complete" in line:
        removed = True
        cluster.remove_node(second, allow_graceful=False)
        print("node removed", file=sys.stderr)
code = driver.wait()
cluster.shutdown()
sys.exit(code)
