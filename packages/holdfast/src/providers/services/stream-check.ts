import { limits } from '@holdfast/protocol'

/** The answer is longer than we accept. */
export class AnswerTooLongError extends Error {
  override readonly name = 'AnswerTooLongError'

  constructor(what: 'event' | 'answer', max: number, unit: 'bytes' | 'characters' | 'parts' | 'values') {
    super(`one ${what} is longer than ${max} ${unit}`)
  }
}

const newline = 10
const carriageReturn = 13
const quote = 34
const backslash = 92
/** The characters that begin a value of JSON or separate two: , : [ { */
const marks: ReadonlySet<number> = new Set([44, 58, 91, 123])
const isMark = Uint8Array.from({ length: 256 }, (_, byte) => (marks.has(byte) ? 1 : 0))

/**
 * Returns a check that throws if an event of a stream has too many bytes or values, or the whole answer too many bytes. It
 * runs before anything is parsed: a megabyte of empty lists takes a hundred times its size in memory.
 */
export function createStreamCheck(): (chunk: Uint8Array) => void {
  let allBytes = 0
  let eventBytes = 0
  let values = 0
  let lineBytes = 0
  let isText = false
  let isEscaped = false

  return (chunk) => {
    allBytes += chunk.byteLength
    if (allBytes > limits.answerBytesMax) throw new AnswerTooLongError('answer', limits.answerBytesMax, 'bytes')
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0
      eventBytes++
      if (byte === newline) {
        // An empty line ends an event. Texts in JSON have no line ends.
        if (lineBytes === 0) eventBytes = values = 0
        lineBytes = 0
        isText = isEscaped = false
      } else if (byte !== carriageReturn) {
        lineBytes++
        if (isEscaped) isEscaped = false
        else if (byte === quote) isText = !isText
        else if (isText) isEscaped = byte === backslash
        else values += isMark[byte] ?? 0
      }
    }
    if (eventBytes > limits.answerEventBytesMax)
      throw new AnswerTooLongError('event', limits.answerEventBytesMax, 'bytes')
    if (values > limits.answerEventValuesMax)
      throw new AnswerTooLongError('event', limits.answerEventValuesMax, 'values')
  }
}
