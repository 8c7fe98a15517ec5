import { Writable } from 'node:stream'
import { wrapSentences } from '../render/wrap-words.ts'
import { createOutput, type Output } from '../terminal/output.ts'

/** An output that collects its text. */
export function createTextOutput(): { readonly output: Output; readonly text: () => string } {
  let written = ''
  const stream = new Writable({
    write(chunk, _, done) {
      written += String(chunk)
      done()
    },
  })
  return {
    output: createOutput({ stream, colour: 'never', rejectsOnFailure: false, wrapSentences }),
    text: () => written,
  }
}
