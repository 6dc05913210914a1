package picture

import (
	"bytes"
	"encoding/binary"
)

// exifHead stands before EXIF data in a JPEG, and sometimes elsewhere.
const exifHead = "Exif\x00\x00"

// exifOfJPEG finds the EXIF data before the picture itself begins, nil for none.
func exifOfJPEG(file []byte) []byte {
	const app1, scan = 0xe1, 0xda
	for rest := file[2:]; len(rest) >= 4 && rest[0] == 0xff; {
		if rest[1] == 0xff { // padding
			rest = rest[1:]
			continue
		}
		size := int(binary.BigEndian.Uint16(rest[2:]))
		if rest[1] == scan || size < 2 || size+2 > len(rest) {
			return nil
		}
		body := rest[4 : size+2]
		if rest[1] == app1 && bytes.HasPrefix(body, []byte(exifHead)) {
			return body[len(exifHead):]
		}
		rest = rest[size+2:]
	}
	return nil
}

// exifOfPNG finds it in the chunk eXIf.
func exifOfPNG(file []byte) []byte {
	const frame = 12 // length, name and checksum of a chunk
	for rest := file[8:]; len(rest) >= frame; {
		size := uint64(binary.BigEndian.Uint32(rest))
		if size > uint64(len(rest)-frame) {
			return nil
		}
		if string(rest[4:8]) == "eXIf" {
			return rest[8 : 8+size]
		}
		rest = rest[frame+size:]
	}
	return nil
}

// exifOfWebP finds it in the chunk EXIF.
func exifOfWebP(file []byte) []byte {
	for rest := file[12:]; len(rest) >= 8; {
		size := uint64(binary.LittleEndian.Uint32(rest[4:]))
		if size > uint64(len(rest)-8) {
			return nil
		}
		if string(rest[:4]) == "EXIF" {
			return bytes.TrimPrefix(rest[8:8+size], []byte(exifHead))
		}
		rest = rest[min(8+size+size%2, uint64(len(rest))):]
	}
	return nil
}

// orientation reads how a picture is to be turned, 1 where that is not said.
func orientation(exif []byte) int {
	const head, entry, tag = 8, 12, 0x0112
	if len(exif) < head {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if string(exif[:2]) == "II" {
		order = binary.LittleEndian
	}
	at := uint64(order.Uint32(exif[4:]))
	if at+2 > uint64(len(exif)) {
		return 1
	}
	n, list := int(order.Uint16(exif[at:])), exif[at+2:]
	for ; n > 0 && len(list) >= entry; n, list = n-1, list[entry:] {
		if order.Uint16(list) == tag {
			return int(order.Uint16(list[8:]))
		}
	}
	return 1
}
