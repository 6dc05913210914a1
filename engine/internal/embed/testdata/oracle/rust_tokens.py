# Reads texts as JSON strings, one a line; prints their token ids by the Rust
# library as JSON arrays, one a line. The argument is a tokenizer.json.
import json
import sys

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
tokenizer.no_padding()
tokenizer.no_truncation()
for encoding in tokenizer.encode_batch([json.loads(line) for line in sys.stdin]):
    print(json.dumps(encoding.ids))
