import { type CSSProperties, useMemo, useState } from 'react'
import { counted } from '../text/format.ts'
import { inOrder } from '../ui/elements.tsx'
import { type BesideRow, besideRows, type DiffRow, diffRows } from './diff-rows.ts'

type DiffViewProps = {
  readonly diff: string
  /** Draws only so many lines until a person asks for all. */
  readonly linesMax?: number
  /** Leaves out the names of the files, which are shown above it. */
  readonly isNamed?: boolean
}

/** Beyond this a diff is for downloading. */
const drawnLinesMax = 5000

/** Shows a diff in colour, with line numbers, and with + and - for people who do not see colour. */
export function DiffView({ diff, linesMax = drawnLinesMax, isNamed = false }: DiffViewProps) {
  const [isWhole, setWhole] = useState(false)
  const rows = useMemo(() => diffRows(diff).filter(({ kind }) => !isNamed || kind !== 'file'), [diff, isNamed])
  // A button that reveals a line or two is worse than the lines.
  const isLong = rows.length > linesMax * 1.2
  const shown = rows.slice(0, isWhole || !isLong ? drawnLinesMax : linesMax)
  const lastNumber = rows.reduce((most, { before, after }) => Math.max(most, before ?? 0, after ?? 0), 0)
  const isTwoSided = ['added', 'removed'].every((side) => rows.some(({ kind }) => kind === side))
  const gutter = { '--digits': Math.max(2, String(lastNumber).length) } as CSSProperties // React types no custom property
  return (
    <div className={isTwoSided ? 'diff two-sided' : 'diff'} style={gutter}>
      <pre>
        <code>
          {inOrder(partsOf(shown), (part) => (
            <span className="diff-part">{inOrder(besideRows(part), SplitRowView)}</span>
          ))}
        </code>
      </pre>
      {isLong && !isWhole && (
        <button type="button" className="quiet diff-more" onClick={() => setWhole(true)}>
          Show all {counted(rows.length, 'line')}
        </button>
      )}
      {isWhole && rows.length > drawnLinesMax && (
        <p className="diff-more">The first {counted(drawnLinesMax, 'line')} are shown.</p>
      )}
    </div>
  )
}

/** Draws a line where it stands side by side. An unchanged line stands on both sides; the copy is only for the eye. */
const SplitRowView = ({ row, line }: BesideRow) => (
  <>
    <DiffRowView {...row} line={line} />
    {row.kind === 'same' && (
      <span
        className="diff-line diff-copy"
        aria-hidden="true"
        style={lineStyle(line)}
        data-after={row.after ?? undefined}
      >
        {' '}
        {row.text}
      </span>
    )}
  </>
)

const lineStyle = (line: number) => ({ '--line-of-part': line }) as CSSProperties // React types no custom property

const DiffRowView = ({ kind, mark, text, changed, before, after, line }: DiffRow & { readonly line: number }) => (
  <span
    className={`diff-line diff-${kind}`}
    style={lineStyle(line)}
    data-before={before ?? undefined}
    data-after={after ?? undefined}
  >
    {mark}
    {changed === null ? (
      text
    ) : (
      <>
        {text.slice(0, changed.from)}
        <mark>{text.slice(changed.from, changed.to)}</mark>
        {text.slice(changed.to)}
      </>
    )}
    {'\n'}
  </span>
)

/** Lines that are laid out together; parts off screen are not. */
const partLines = 100

const partsOf = (rows: readonly DiffRow[]): readonly (readonly DiffRow[])[] =>
  Array.from({ length: Math.ceil(rows.length / partLines) }, (_, part) =>
    rows.slice(part * partLines, (part + 1) * partLines),
  )
