import { createZipfText } from '../fixtures/zipf-text.ts'
import type { PeerMessage } from './peer.ts'

/** Returns messages of user and assistant in turns, `meanBytes` long on average. The same seed gives the same messages. */
export function makeMessages(seed: number, messages: number, meanBytes: number): readonly PeerMessage[] {
  const text = createZipfText(seed)
  return Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    text: text.textAbout(meanBytes),
  }))
}
