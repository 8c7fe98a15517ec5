import { randomInt } from 'node:crypto'
import type { SessionId } from '@holdfast/protocol'
import { uuidv7obj } from 'uuidv7'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Returns a new id: `ses_` and a UUIDv7 in lower-case Crockford base32, so that ids sort by creation time. */
export function newSessionId(): SessionId {
  let text = ''
  let bits = 0
  let count = 2 // 26 digits have two bits more than a UUID; they are zero
  for (const byte of uuidv7obj().bytes) {
    bits = (bits << 8) | byte
    for (count += 8; count >= 5; count -= 5) text += alphabet.charAt((bits >> (count - 5)) & 31)
    bits &= 31
  }
  return `ses_${text}` as SessionId // valid by construction; an import makes thousands
}

const moods = `
  amber ancient autumn blue bold brave bright brisk calm clear cool coral crisp dawn deep eager early fair firm
  fresh gentle glad golden grand green hardy hidden humble jolly keen kind late light lively lucky merry mild
  misty noble north pale patient plain polar proud quiet rapid ready royal salty sandy sharp silent silver sleepy
  slow smooth snowy solid south steady still stout sunny swift tidal tidy true vast vivid warm west wide windy
  wise young
`
  .trim()
  .split(/\s+/)
const places = `
  anchor atoll bay beach beacon bluff boat breeze bridge buoy cape cliff cloud coast compass cove creek crest
  current deck delta dock dune estuary ferry fjord foam gale gull harbor haven helm inlet island jetty kelp lagoon
  lantern ledge lighthouse marina marsh mast meadow mooring ocean oyster pearl pier pond port quay reef ridge
  river rudder sail shell shoal shore sound spray star strait summit surf tide valley wave wharf willow wind
`
  .trim()
  .split(/\s+/)

/** Returns a readable handle such as `calm-harbor-12`. The number's range grows with each attempt, to find a free one soon. */
export function newHandle(attempt: number): string {
  const mood = moods[randomInt(moods.length)]
  const place = places[randomInt(places.length)]
  return `${mood}-${place}-${randomInt(1, 100 * 10 ** Math.min(attempt, 4))}`
}
