import { limits } from '@holdfast/protocol'
import { TooMuchSaid } from './too-much.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** Events shorter than this are not looked for: most answers are never searched at all. */
const uncheckedBytes = 1024 * 1024
const newline = 10
const carriageReturn = 13

/**
 * The answer of a service, of which no more is taken in than we can hold. The libraries read an error to its end and wait
 * for the end of an event, however long: of an error the rest is cut, and a stream that goes beyond its bounds breaks off.
 */
export function boundedAnswer(answer: Response): Response {
  const { body, ok, status, statusText, headers } = answer
  if (body === null) return answer
  return new Response(through(body, ok ? countEvents() : cutAt(limits.errorBodyBytesMax)), {
    status,
    statusText,
    headers,
  })
}

/** What is passed on of a chunk, and whether it is the last. Throws where there is too much. */
type Take = (chunk: Bytes) => { readonly passed: Bytes; readonly isLast: boolean }

/** One hop for a chunk of the network, and none for an event. */
function through(body: ReadableStream<Bytes>, take: Take): ReadableStream<Bytes> {
  const reader = body.getReader()
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        try {
          const { passed, isLast } = take(value)
          controller.enqueue(passed)
          if (!isLast) return
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        await reader.cancel()
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

function cutAt(bytesMax: number): Take {
  let room = bytesMax
  return (chunk) => {
    const passed = chunk.subarray(0, room)
    room -= passed.byteLength
    return { passed, isLast: room === 0 }
  }
}

function countEvents(): Take {
  let allBytes = 0
  let eventBytes = 0
  let isAfterNewline = false
  return (passed) => {
    allBytes += passed.byteLength
    eventBytes += passed.byteLength
    if (eventBytes > uncheckedBytes) eventBytes = Math.min(eventBytes, bytesAfterEvent(passed, isAfterNewline))
    isAfterNewline = passed.at(-1) === newline
    if (eventBytes > limits.answerEventBytesMax) throw new TooMuchSaid('event', limits.answerEventBytesMax, 'bytes')
    if (allBytes > limits.answerBytesMax) throw new TooMuchSaid('answer', limits.answerBytesMax, 'bytes')
    return { passed, isLast: false }
  }
}

/** How many bytes of a chunk stand after the last empty line, which ends an event; without limit if there is none. */
function bytesAfterEvent(chunk: Bytes, isAfterNewline: boolean): number {
  const { byteLength } = chunk
  for (let at = chunk.lastIndexOf(newline); at >= 0; at = at === 0 ? -1 : chunk.lastIndexOf(newline, at - 1)) {
    const before = chunk[at - 1] === carriageReturn ? at - 2 : at - 1
    if (before < 0 ? isAfterNewline : chunk[before] === newline) return byteLength - at - 1
  }
  return Number.POSITIVE_INFINITY
}
