import { escapeHidden, escapeLine, type Preview } from '@holdfast/protocol'
import { useMemo } from 'react'
import { inOrder } from '../../ui/elements.tsx'
import { useSession } from '../state/session-context.ts'

type DiffLine = {
  readonly kind: 'file' | 'hunk' | 'added' | 'removed' | 'same' | 'note'
  readonly text: string
}

const hunkHead = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/
const fileHead = /^(?:--- |\+\+\+ |diff |index |Index: |={10,}|new file |deleted file |rename |similarity )/

/**
 * Parses a unified diff into lines with their kind. Inside a hunk the line counts decide: a removed line that begins with
 * `--` must not look like a file name to a person who approves it.
 */
export function parseDiff(diff: string): readonly DiffLine[] {
  let removedLeft = 0
  let addedLeft = 0
  const lines = diff.endsWith('\n') ? diff.slice(0, -1).split('\n') : diff.split('\n')
  return lines.map((text): DiffLine => {
    if (removedLeft > 0 || addedLeft > 0) {
      const kind = kindByMark(text)
      if (kind === 'removed' || kind === 'same') removedLeft--
      if (kind === 'added' || kind === 'same') addedLeft--
      return { kind, text }
    }
    const head = hunkHead.exec(text)
    if (head) {
      removedLeft = Number(head[1] ?? 1)
      addedLeft = Number(head[2] ?? 1)
      return { kind: 'hunk', text }
    }
    return { kind: fileHead.test(text) ? 'file' : kindByMark(text), text }
  })
}

function kindByMark(text: string): DiffLine['kind'] {
  if (text.startsWith('+')) return 'added'
  if (text.startsWith('-')) return 'removed'
  if (text.startsWith('\\')) return 'note'
  return 'same'
}

/** Counts added and removed lines. */
export function diffCounts(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  return { added: count('added'), removed: count('removed') }
}

/** Shows a diff in colour, with + and - for people who do not see colour, and hidden characters escaped. */
function DiffView({ diff }: { readonly diff: string }) {
  const lines = useMemo(() => parseDiff(diff), [diff])
  return (
    <pre className="diff">
      <code>
        {inOrder(lines, ({ kind, text }) => (
          <span className={`diff-line diff-${kind}`}>
            {escapeHidden(text) || ' '}
            {'\n'}
          </span>
        ))}
      </code>
    </pre>
  )
}

/** Shows the arguments of a call: text as text, the rest as JSON. */
export function ArgumentsView({ args }: { readonly args: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(args)
  if (entries.length === 0) return <p className="nothing">No arguments.</p>
  return (
    <dl className="arguments">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{escapeLine(name)}</dt>
          <dd>{escapeHidden(typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'undefined'))}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Shows exactly what will run. Of a long preview only head and tail are drawn; a link leads to the whole. */
export function PreviewView({ preview }: { readonly preview: Preview }) {
  const { handle } = useSession()
  const { blob } = preview
  return (
    <div className="preview">
      {blob && (
        <p className="preview-where" role="note">
          Shortened.{' '}
          <a href={`/v1/sessions/${handle.id}/blobs/${blob.hash}`} download={`preview-${blob.hash.slice(0, 8)}.txt`}>
            Download the whole preview ({blob.bytes.toLocaleString('en')} bytes)
          </a>
        </p>
      )}
      <PreviewBody preview={preview} />
    </div>
  )
}

/** Draws the content of a preview. */
export function PreviewBody({ preview }: { readonly preview: Preview }) {
  switch (preview.type) {
    case 'command':
      return (
        <>
          <pre className="command">
            <code>{escapeHidden(preview.command)}</code>
          </pre>
          <p className="preview-where">
            in <code>{escapeLine(preview.cwd)}</code>
          </p>
          <p className="preview-where">An approved command can do what you can do.</p>
        </>
      )
    case 'diff': {
      const { added, removed } = diffCounts(parseDiff(preview.diff))
      return (
        <>
          <p className="preview-where">
            <code>{escapeLine(preview.path)}</code>
            {!preview.blob && (
              <span className="counts">
                <span className="plus">+{added}</span> <span className="minus">−{removed}</span>
              </span>
            )}
          </p>
          <DiffView diff={preview.diff} />
        </>
      )
    }
    case 'arguments':
      return <ArgumentsView args={preview.args} />
  }
}
