# Shows a script the packages of its own Python, and runs it.
import os, runpy, site, sys

at = sys.argv.index("--")
for folder in sys.argv[1:at]:
    site.addsitedir(folder)
sys.argv = sys.argv[at + 1 :]
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
runpy.run_path(sys.argv[0], run_name="__main__")
