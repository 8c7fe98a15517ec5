import { BlobHash, diffCounts, diffLines, escapeLine, type Preview, type SessionHandle } from '@holdfast/protocol'
import { useMemo, useState } from 'react'
import { DiffView } from './diff-view.tsx'

type FileDiffProps = {
  readonly handle: SessionHandle
  readonly preview: Extract<Preview, { readonly type: 'diff' }>
  /** Draws only so many lines until a person asks for all. */
  readonly linesMax?: number
  /** A word beside the name; by default whether the file is new or deleted. */
  readonly about?: string
}

/** Shows the diff of a file with its name and counts. Of a long diff, head and tail until the whole is asked for. */
export function FileDiff({ handle, preview: { path, diff, blob }, linesMax, about: word }: FileDiffProps) {
  const [whole, setWhole] = useState<string | null>(null)
  const [isFailed, setFailed] = useState(false)
  const shown = whole ?? diff
  const lines = useMemo(() => diffLines(shown), [shown])
  const { added, removed } = diffCounts(lines)
  const hasLines = lines.some(({ kind }) => kind !== 'file') // a moved file has none
  const about = word ?? stateOf(lines.slice(0, 4).map(({ text }) => text))
  const load = async () => {
    const text = blob && (await readText(handle, blob.hash))
    setFailed(text === null)
    if (text) setWhole(text)
  }
  return (
    <figure className="file-diff" aria-label={`Diff of ${escapeLine(path)}`}>
      <figcaption>
        <code>{escapeLine(path)}</code>
        {about !== null && <span className="badge">{about}</span>}
        {hasLines && (!blob || whole !== null) && <Counts added={added} removed={removed} />}
      </figcaption>
      {blob && whole === null && (
        <p className="preview-where" role="note">
          <span>
            {isFailed ? 'The whole diff cannot be read now. ' : 'Shortened. '}
            <button type="button" className="link" onClick={load}>
              Show all
            </button>
          </span>
        </p>
      )}
      {hasLines && <DiffView diff={shown} isNamed {...(linesMax !== undefined && whole === null && { linesMax })} />}
    </figure>
  )
}

/** Shows how many lines were added and removed. */
export const Counts = ({ added, removed }: { readonly added: number; readonly removed: number }) => (
  <span className="counts">
    <span className="plus">+{added.toLocaleString('en')}</span>{' '}
    <span className="minus">−{removed.toLocaleString('en')}</span>
  </span>
)

/** Says whether a diff creates, deletes or moves its file; null if it changes it. */
function stateOf(heads: readonly string[]): string | null {
  const from = heads.find((text) => text.startsWith(renameFrom))
  if (from !== undefined) return movedText(from.slice(renameFrom.length))
  if (heads.includes('--- /dev/null')) return 'new file'
  return heads.includes('+++ /dev/null') ? 'deleted' : null
}

/** Says where a moved file was. */
export const movedText = (from: string): string => `moved from ${escapeLine(from)}`

const renameFrom = 'rename from '

/** Reads a blob of the session as text; null if it cannot be read. */
async function readText(handle: SessionHandle, hash: string): Promise<string | null> {
  const opened = await handle.blob(BlobHash.parse(hash))
  if (!opened.ok) return null
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of opened.value) text += decoder.decode(chunk, { stream: true })
    return text + decoder.decode()
  } catch {
    return null // the connection broke
  }
}
