import type { Meta } from './open-parts.ts'

/** What of an answer is written down beside it, and is never sent back. */
type Unsent = { readonly type: string; readonly [key: string]: unknown }

/** How much of one answer is kept, all together; what is beyond it is counted. */
const keptCharsMax = 64 * 1024
/** How much a service may give with the parts of one answer to have back: signatures, and what it thought, sealed. */
const sealedCharsMax = 1024 * 1024

/** About the stream and not of the answer, or put together elsewhere. */
const passing: ReadonlySet<string> = new Set([
  'stream-start',
  'response-metadata',
  'raw',
  'ping',
  'finish',
  'error',
  'tool-input-start',
  'tool-input-delta',
  'tool-input-end',
])

/**
 * Keeps what a service sends that we have no use for: sources, files, what its own tools did, and parts nobody has heard
 * of. It belongs to the answer, so it stays on record with it.
 */
export function createUnsent() {
  let kept: Unsent[] = []
  let omitted = 0
  const room = { kept: keptCharsMax, sealed: sealedCharsMax }

  function fits(json: string | undefined, place: keyof typeof room): json is string {
    const isFit = json !== undefined && json.length <= room[place]
    if (isFit) room[place] -= json.length
    else omitted++
    return isFit
  }

  // What must come back is text; lists and objects are for people, and can be as long as a service likes.
  const isFitField = ([, value]: readonly [string, unknown]) =>
    fits(jsonOf(value), typeof value === 'string' ? 'sealed' : 'kept')

  return {
    take(part: { readonly type: string }): void {
      if (passing.has(part.type) || isHeader(part)) return
      const json = jsonOf(part)
      if (fits(json, 'kept')) kept.push(JSON.parse(json))
    },
    /** What a service gave with a part, but for what there is no room for. */
    fit: (meta: Meta): Meta =>
      Object.fromEntries(
        Object.entries(meta).map(([service, values]) => [
          service,
          Object.fromEntries(Object.entries(values as object).filter(isFitField)), // put together by us, of objects
        ]),
      ),
    /** All since it was last asked for, and how many there was no room for. */
    give(): readonly Unsent[] {
      const given = omitted === 0 ? kept : [...kept, { type: 'omitted', count: omitted }]
      kept = []
      omitted = 0
      return given
    },
  }
}

/** Anthropic's library repeats the head of each answer as a part. */
const isHeader = (part: { readonly type: string }): boolean =>
  part.type === 'custom' && 'kind' in part && String(part.kind).endsWith('.message_start')

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, bytesAsText)
  } catch {
    return undefined // it refers to itself, or is no value at all
  }
}

function bytesAsText(this: { readonly [key: string]: unknown }, key: string, value: unknown): unknown {
  const own = this[key]
  return own instanceof Uint8Array ? Buffer.from(own).toString('base64') : value
}
