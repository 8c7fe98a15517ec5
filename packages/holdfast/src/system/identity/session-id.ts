import { SessionId } from '@holdfast/protocol'
import { uuidv7obj } from 'uuidv7'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** A new id: `ses_` and a UUIDv7 in lower-case Crockford base32, so that ids sort by birth. */
export function newSessionId(): SessionId {
  let bits = 0n
  for (const byte of uuidv7obj().bytes) bits = (bits << 8n) | BigInt(byte)
  let text = ''
  for (let place = 0; place < 26; place++) {
    text = alphabet.charAt(Number(bits & 31n)) + text
    bits >>= 5n
  }
  return SessionId.parse(`ses_${text}`)
}
