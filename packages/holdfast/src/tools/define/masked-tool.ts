import { ownSlice, type Prepared, type Tool, type ToolBlobs, type ToolResult, type ToolRun } from '@holdfast/core/ports'
import {
  hasKeys,
  keyBegun,
  keyHeldBack,
  keySpanMax,
  maskError,
  maskKeys,
  mayHoldKey,
} from '../../system/secrets/known-keys.ts'

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/**
 * Wraps a tool and masks every known key in its output: a result is recorded, and sent to whichever provider answers next.
 * Arguments stay as they are, because the approved call is the one that runs.
 */
export function maskedTool(tool: Tool): Tool {
  return {
    ...tool,
    prepare: async (args, context, signal) => maskPrepared(await tool.prepare(args, context, signal)),
    async run(args, context, run) {
      const live = createPieceMask(keyHeldBack) // nothing may come after it for minutes
      const masked: ToolRun = {
        ...run,
        show(text) {
          const shown = live.add(text)
          if (shown !== '') run.show(shown)
        },
        storeOutput: (output, toText) => run.storeOutput(maskBytes(output), toText),
        storeFile: run.storeFile && maskFile(run.storeFile),
        blobs: run.blobs && maskBlobs(run.blobs),
        recordLater: run.recordLater && maskLater(run.recordLater),
      }
      const result = await tool.run(args, context, masked).catch((error: unknown) => {
        throw maskError(error) // its message becomes the result
      })
      const rest = live.end()
      if (rest !== '') run.show(rest)
      return maskResult(result)
    },
  }
}

const maskBlobs = (blobs: ToolBlobs): ToolBlobs => ({
  ...blobs,
  put: async (bytes) => blobs.put(await maskWhole(bytes)),
})

const maskLater =
  (record: NonNullable<ToolRun['recordLater']>): ToolRun['recordLater'] =>
  (look) =>
    record(async (context, run) => {
      const { files, notice } = await look(context, { ...run, blobs: run.blobs && maskBlobs(run.blobs) })
      return { files, ...(notice !== undefined && { notice: maskKeys(notice) }) }
    })

const maskFile =
  (store: NonNullable<ToolRun['storeFile']>): ToolRun['storeFile'] =>
  async (bytes, name) =>
    store(await maskWhole(bytes), name)

/** A content is searched for keys in slices: an answer may read many pages or images of megabytes. */
const sliceBytes = 512 * 1024

/** Masks keys in a whole content. Hardly any has one, so that it is searched first. */
async function maskWhole(bytes: Uint8Array): Promise<Uint8Array> {
  if (!hasKeys()) return bytes
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const shared = keySpanMax() // a key that begins in one slice ends in it
  for (let from = 0; from < content.length; from += sliceBytes) {
    if (content.length > sliceBytes) await ownSlice()
    if (mayHoldKey(content.subarray(from, from + sliceBytes + shared)))
      return Buffer.from(maskKeys(content.toString('latin1')), 'latin1')
  }
  return bytes
}

function maskPrepared(prepared: Prepared): Prepared {
  if (prepared.type === 'unusable') return { ...prepared, message: maskKeys(prepared.message) }
  const { preview } = prepared
  // A diff shows the file around the change; a command and arguments are the model's own words.
  return preview.type === 'diff' ? { ...prepared, preview: { ...preview, diff: maskKeys(preview.diff) } } : prepared
}

function maskResult(result: ToolResult): ToolResult {
  const { output, leftRunning } = result
  return {
    ...result,
    output: { ...output, text: maskKeys(output.text) },
    ...(leftRunning !== undefined && { leftRunning: maskKeys(leftRunning) }),
  }
}

/**
 * Masks text that comes in pieces. An end that may be the start of a key is remembered, and `heldBack` says how much of it
 * waits for the next piece. If it is a key, the rest of it is masked.
 */
function createPieceMask(heldBack: (text: string) => number = keyBegun) {
  let end = ''
  /** How much of `end` was returned already. */
  let shown = 0
  const withoutShown = (text: string) => (text.startsWith(end.slice(0, shown)) ? text.slice(shown) : text)
  return {
    add(piece: string): string {
      const text = end + piece
      const begun = keyBegun(text)
      const cut = text.length - begun
      const until = Math.max(cut, shown, text.length - (heldBack === keyBegun ? begun : heldBack(text)))
      const whole = maskKeys(text)
      const head = whole === text ? text.slice(0, cut) : maskKeys(text.slice(0, cut))
      // The start of a key may also be the end of another key: cutting there would show the rest of it.
      const splitsKey = whole !== text && head + maskKeys(text.slice(cut)) !== whole
      const added = withoutShown(splitsKey ? whole : head + text.slice(cut, until))
      end = splitsKey ? '' : text.slice(cut)
      shown = splitsKey ? 0 : until - cut
      return added
    },
    end(): string {
      const rest = withoutShown(maskKeys(end))
      end = ''
      shown = 0
      return rest
    },
  }
}

/** Masks keys in bytes. Keys are ASCII, so bytes are read as Latin-1 whatever their encoding. */
async function* maskBytes(output: Bytes): AsyncGenerator<Uint8Array> {
  if (!hasKeys()) return yield* output
  const mask = createPieceMask()
  for await (const { buffer, byteOffset, byteLength } of output) {
    const text = mask.add(Buffer.from(buffer, byteOffset, byteLength).toString('latin1'))
    if (text !== '') yield Buffer.from(text, 'latin1')
  }
  const rest = mask.end()
  if (rest !== '') yield Buffer.from(rest, 'latin1')
}
