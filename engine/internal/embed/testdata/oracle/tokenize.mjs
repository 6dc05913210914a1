// Reads a tokenizer.json (last argument) and texts as JSON strings, one a line;
// prints their token ids as JSON arrays, one a line.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Tokenizer } from "@huggingface/tokenizers";

const definition = JSON.parse(readFileSync(process.argv.at(-1), "utf8"));
definition.padding = definition.truncation = null;
const tokenizer = new Tokenizer(definition, {});
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(tokenizer.encode(JSON.parse(line)).ids));
}
