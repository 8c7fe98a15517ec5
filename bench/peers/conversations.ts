import { createZipfText } from '../zipf-text.ts'
import type { Said } from './peer.ts'

/** So many messages, in turns of two, of about so many bytes each. The same seed says the same. */
export function sayInTurns(seed: number, messages: number, meanBytes: number): readonly Said[] {
  const text = createZipfText(seed)
  return Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    text: text.sayAbout(meanBytes),
  }))
}
