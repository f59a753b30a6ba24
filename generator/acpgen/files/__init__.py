"""File output: the only code that writes the files of acpgen, and the only cache.

In: text by path. Out: files replaced together or not at all (`atomic_write`), folders that contain exactly the given files (`tree`),
cached results of earlier runs (`cache`, `serialization`), and rounds that follow changes of files (`watch`).
"""

from acpgen.files.atomic_write import create_folder as create_folder
from acpgen.files.atomic_write import replace_files as replace_files
from acpgen.files.atomic_write import require_files as require_files
from acpgen.files.atomic_write import save as save
from acpgen.files.atomic_write import write_reports as write_reports
from acpgen.files.tree import MANIFEST as MANIFEST
from acpgen.files.tree import Change as Change
from acpgen.files.tree import Files as Files
from acpgen.files.tree import Tree as Tree
from acpgen.files.tree import compare as compare
from acpgen.files.tree import diff_lines as diff_lines
from acpgen.files.tree import hash_folder as hash_folder
from acpgen.files.tree import hash_tree as hash_tree
from acpgen.files.tree import is_behind_link as is_behind_link
from acpgen.files.tree import is_file as is_file
from acpgen.files.tree import is_ours as is_ours
from acpgen.files.tree import require_folder as require_folder
from acpgen.files.tree import write as write
