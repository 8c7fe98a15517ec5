const newLine = 10
const tagField = new TextEncoder().encode('tag: ')

/** The bytes of one or more whole events. `tag` names the stream they are for; null means every stream of the connection. */
export type TaggedBytes = { readonly tag: string | null; readonly bytes: Uint8Array<ArrayBuffer> }

/**
 * Divides the bytes of a connection into whole events by their tags, and removes the tags. Events of one tag that follow each
 * other stay together. Bytes of an unfinished event wait for the next call.
 */
export function createEventSplitter() {
  let rest: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  return {
    split(chunk: Uint8Array): readonly TaggedBytes[] {
      const bytes = join(rest, chunk)
      const found: TaggedBytes[] = []
      let begin = 0
      // A blank line ends an event. The new part may begin with its second line feed.
      for (let at = Math.max(rest.length - 1, 0); at >= 0; ) {
        at = bytes.indexOf(newLine, at)
        if (at < 0) break
        if (bytes[at + 1] !== newLine) {
          at += 1
          continue
        }
        found.push(untag(bytes.subarray(begin, at + 2)))
        begin = at + 2
        at = begin
      }
      rest = bytes.slice(begin)
      return joinNeighbours(found)
    },
  }
}

function untag(event: Uint8Array<ArrayBuffer>): TaggedBytes {
  const isTagged = tagField.every((byte, index) => event[index] === byte)
  if (!isTagged) return { tag: null, bytes: event }
  const end = event.indexOf(newLine)
  const tag = new TextDecoder().decode(event.subarray(tagField.length, end))
  return { tag, bytes: event.subarray(end + 1) }
}

function joinNeighbours(events: readonly TaggedBytes[]): readonly TaggedBytes[] {
  const joined: TaggedBytes[] = []
  for (let from = 0; from < events.length; ) {
    const tag = events[from]?.tag ?? null
    let to = from + 1
    while (to < events.length && events[to]?.tag === tag) to += 1
    joined.push({ tag, bytes: join(...events.slice(from, to).map(({ bytes }) => bytes)) })
    from = to
  }
  return joined
}

/** Copies the parts into one array that has a buffer of its own, so that it can be transferred. */
function join(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
