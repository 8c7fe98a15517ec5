import { escapeHidden } from '@holdfast/protocol'
import { useMemo } from 'react'
import { parseDiff } from '../../text/unified-diff.ts'
import { inOrder } from '../../ui/in-order.tsx'

type DiffViewProps = { readonly diff: string }

/** Shows a diff in colour, with + and - for people who do not see colour, and hidden characters escaped. */
export function DiffView({ diff }: DiffViewProps) {
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
