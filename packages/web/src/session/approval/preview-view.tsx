import { escapeHidden, escapeLine, type Preview, type SessionHandle, sandboxSentence } from '@holdfast/protocol'
import { FileDiff } from '../../diff/file-diff.tsx'

/** Shows the arguments of a call: text as text, the rest as JSON. */
export function ArgumentsView({ args }: { readonly args: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(args)
  if (entries.length === 0) return <p className="nothing">No arguments.</p>
  return (
    <dl className="arguments">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{escapeLine(name)}</dt>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long one scrolls, and must do so by keyboard too */}
          <dd tabIndex={0}>
            {escapeHidden(typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'undefined'))}
          </dd>
        </div>
      ))}
    </dl>
  )
}

type PreviewProps = {
  readonly preview: Preview
  /** The session that keeps the whole of a shortened preview. */
  readonly handle: SessionHandle
}

/** Shows exactly what will run. Of a long preview only head and tail are drawn; a link leads to the whole. */
export function PreviewView({ preview, handle }: PreviewProps) {
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
      <PreviewBody preview={preview} handle={handle} />
    </div>
  )
}

/** Draws the content of a preview. */
export function PreviewBody({ preview, handle }: PreviewProps) {
  switch (preview.type) {
    case 'command':
      return (
        <>
          <pre className="command">
            <code>{escapeHidden(preview.command)}</code>
          </pre>
          <p className="preview-where">
            in <code>{escapeLine(preview.cwd)}</code>
            {preview.background && ', in the background: it goes on after the call'}
          </p>
          <p className="preview-where">{escapeLine(sandboxSentence(preview.sandbox))}</p>
        </>
      )
    case 'diff':
      // Not collapsed: it scrolls, so that a person who approves it can read all of it.
      return <FileDiff handle={handle} preview={preview} />
    case 'arguments':
      return <ArgumentsView args={preview.args} />
    case 'question':
      return <p className="question-text">{escapeHidden(preview.message)}</p>
  }
}
