# Embeds with ONNX Runtime's own package. Arguments: the folder of a model, and
# how many threads compute. Each line of the input is a JSON array of texts; each
# line of the output holds their vectors and the seconds that they took.
import json
import sys
import time

import numpy
import onnxruntime
from tokenizers import Tokenizer

folder, threads = sys.argv[1], int(sys.argv[2])
tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
tokenizer.no_padding()
tokenizer.enable_truncation(512)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = threads
session = onnxruntime.InferenceSession(folder + "/model.onnx", options, providers=["CPUExecutionProvider"])
inputs = [i.name for i in session.get_inputs()]
BATCH = 16


def embed(texts):
    encoded = [numpy.array(e.ids, dtype=numpy.int64) for e in tokenizer.encode_batch(texts)]
    order = sorted(range(len(texts)), key=lambda i: len(encoded[i]))
    vectors = [None] * len(texts)
    for begin in range(0, len(order), BATCH):
        batch = order[begin:begin + BATCH]
        width = len(encoded[batch[-1]])
        ids = numpy.zeros((len(batch), width), dtype=numpy.int64)
        mask = numpy.zeros_like(ids)
        for row, i in enumerate(batch):
            ids[row, :len(encoded[i])] = encoded[i]
            mask[row, :len(encoded[i])] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        hidden = session.run(None, {name: feed[name] for name in inputs})[0]
        weights = mask[:, :, None].astype(hidden.dtype)
        mean = (hidden * weights).sum(1) / weights.sum(1)
        mean /= numpy.linalg.norm(mean, axis=1, keepdims=True)
        for row, i in enumerate(batch):
            vectors[i] = mean[row]
    return vectors


embed(["once, to be warm"])
for line in sys.stdin:
    texts = json.loads(line)
    begin = time.perf_counter()
    vectors = embed(texts)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "vectors": [v.tolist() for v in vectors]}), flush=True)
