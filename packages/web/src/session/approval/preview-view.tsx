import { escapeHidden, escapeLine, type Preview } from '@holdfast/protocol'
import { diffCounts, parseDiff } from '../../text/unified-diff.ts'
import { ArgumentsView } from './arguments-view.tsx'
import { DiffView } from './diff-view.tsx'

type PreviewViewProps = { readonly preview: Preview }

/** Shows exactly what will run, in full. */
export function PreviewView({ preview }: PreviewViewProps) {
  switch (preview.type) {
    case 'command':
      return (
        <div className="preview">
          <pre className="command">
            <code>{escapeHidden(preview.command)}</code>
          </pre>
          <p className="preview-where">
            in <code>{escapeLine(preview.cwd)}</code>
          </p>
        </div>
      )
    case 'diff': {
      const { added, removed } = diffCounts(parseDiff(preview.diff))
      return (
        <div className="preview">
          <p className="preview-where">
            <code>{escapeLine(preview.path)}</code>
            <span className="counts">
              <span className="plus">+{added}</span> <span className="minus">−{removed}</span>
            </span>
          </p>
          <DiffView diff={preview.diff} />
        </div>
      )
    }
    case 'arguments':
      return (
        <div className="preview">
          <ArgumentsView args={preview.args} />
        </div>
      )
  }
}
