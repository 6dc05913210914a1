package document

import (
	"context"
	"fmt"
	"os"
	"strings"

	"klawbot/engine/internal/document/pdf"
)

// sampleWords is what the sample says.
const sampleWords = "klawbot reads this sample."

// samplePDF is a PDF of one page. Its readers find the objects without a table of them.
const samplePDF = `%PDF-1.4
1 0 obj
<</Type/Catalog/Pages 2 0 R>>
endobj
2 0 obj
<</Type/Pages/Count 1/Kids[3 0 R]>>
endobj
3 0 obj
<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>
endobj
4 0 obj
<</Length 61>>stream
BT /F1 12 Tf 20 50 Td (klawbot reads this sample.) Tj ET    
endstream
endobj
5 0 obj
<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>
endobj
trailer
<</Size 6/Root 1 0 R>>
%%EOF
`

// TrySample reads a small document in a child, a PDF where PDFs can be read.
func TrySample(ctx context.Context, o Options) error {
	sample := sampleWords
	if reader, _ := pdf.ReaderOf(o.pdf()); reader != "" {
		sample = samplePDF
	}
	f, err := os.CreateTemp("", "klawbot-sample-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // best effort
	_, err = f.WriteString(sample)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	d, err := Text(ctx, f.Name(), "sample", "", o)
	if err != nil {
		return fmt.Errorf("read the sample: %w", err)
	}
	if !strings.Contains(d.Text, sampleWords) {
		return fmt.Errorf("the sample was read as %.100q", d.Text)
	}
	return nil
}
