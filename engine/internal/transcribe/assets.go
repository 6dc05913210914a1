package transcribe

import "klawbot/engine/internal/embed"

// Folder is the folder of the model in a folder of assets.
const Folder = "speech/" + Model

// published is where the files of the model are.
const published = "https://download.moonshine.ai/model/tiny-en/quantized/tiny-en/"

// assets are the files of the model: Moonshine tiny for English (MIT), as the package
// moonshine-voice 0.0.73 has it.
var assets = []embed.Asset{
	{Path: Folder + "/encoder_model.ort", URL: published + "encoder_model.ort", Size: 13_281_600,
		Hashes: []string{"94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221"}},
	{Path: Folder + "/decoder_model_merged.ort", URL: published + "decoder_model_merged.ort", Size: 30_412_256,
		Hashes: []string{"cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0"}},
	{Path: Folder + "/tokenizer.bin", URL: published + "tokenizer.bin", Size: 249_974,
		Hashes: []string{"6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d"}},
}

// Needed are the files that local speech needs on this system: the model and the ONNX
// Runtime library.
func Needed() ([]embed.Asset, error) {
	library, err := embed.Library()
	if err != nil {
		return nil, err
	}
	return append([]embed.Asset{library}, assets...), nil
}
