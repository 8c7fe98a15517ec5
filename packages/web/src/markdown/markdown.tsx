import {
  type Block,
  type Cell,
  createPieceSplitter,
  createStreamingParser,
  type Footnote,
  type Item,
} from '@holdfast/client/markdown'
import { escapeHidden } from '@holdfast/protocol'
import { memo, startTransition, useEffect, useState } from 'react'
import { CodeBlock } from '../code/code-block.tsx'
import { DiagramBlock } from '../diagram/diagram-block.tsx'
import { inOrder } from '../ui/elements.tsx'
import { ScrollBox } from '../ui/scroll-box.tsx'
import { inlines } from './inline-view.tsx'
import { MathView } from './math-view.tsx'

const headings = ['h3', 'h4', 'h5', 'h6'] as const // the page itself has the first two

type MarkdownProps = {
  readonly text: string
  /** More of it may come: an open code fence stays plain. */
  readonly isGrowing?: boolean
}

/** Draws the text of a model or a person as React elements. No text is ever given to the browser as HTML. */
export const Markdown = memo(function Markdown({ text, isGrowing = false }: MarkdownProps) {
  const [split] = useState(() => createPieceSplitter())
  const pieces = split(text)
  const last = pieces.length - 1
  const drawn = useDrawnCount(last)
  return inOrder(pieces, (piece, index) =>
    index < drawn || index === last ? (
      <Piece text={piece} isGrowing={isGrowing && index === last} />
    ) : (
      <p className="undrawn">{escapeHidden(piece)}</p>
    ),
  )
})

/** Returns how many pieces are drawn: the first at once, then one after the other, so that a long text never blocks the page. */
function useDrawnCount(count: number): number {
  const [drawn, setDrawn] = useState(1)
  useEffect(() => {
    if (drawn >= count) return
    const timer = setTimeout(() => startTransition(() => setDrawn(drawn + 1)))
    return () => clearTimeout(timer)
  }, [drawn, count])
  return drawn
}

const Piece = memo(function Piece({ text, isGrowing = false }: MarkdownProps) {
  const [parse] = useState(createStreamingParser)
  return <Blocks blocks={parse(text)} isGrowing={isGrowing} />
})

type BlocksProps = { readonly blocks: readonly Block[]; readonly isGrowing: boolean }

function Blocks({ blocks, isGrowing }: BlocksProps) {
  const depths = depthsOf(blocks)
  return inOrder(blocks, (block) => <OneBlock block={block} depth={depths.get(block) ?? 0} isGrowing={isGrowing} />)
}

/** Returns how deep each heading is in the outline. Texts leave out levels, which loses people who jump by heading. */
function depthsOf(blocks: readonly Block[]): ReadonlyMap<Block, number> {
  const depths = new Map<Block, number>()
  let above: readonly number[] = []
  for (const block of blocks) {
    if (block.type !== 'heading') continue
    above = above.filter((level) => level < block.level)
    depths.set(block, above.length)
    above = [...above, block.level]
  }
  return depths
}

type OneBlockProps = { readonly block: Block; readonly depth: number; readonly isGrowing: boolean }

/** Redraws only when the block changed: while an answer streams, only the last ones are new objects. */
const OneBlock = memo(function OneBlock({ block, depth, isGrowing }: OneBlockProps) {
  switch (block.type) {
    case 'paragraph':
      return <p dir="auto">{inlines(block.inner)}</p>
    case 'heading': {
      const Heading = headings[depth] ?? 'h6'
      return (
        <Heading className={`heading-${block.level}`} dir="auto">
          {inlines(block.inner)}
        </Heading>
      )
    }
    case 'code':
      return block.language === 'mermaid' ? (
        <DiagramBlock source={block.text} isOpen={isGrowing && block.isOpen} />
      ) : (
        <CodeBlock language={block.language} text={block.text} isOpen={isGrowing && block.isOpen} />
      )
    case 'list': {
      const items = inOrder(block.items, (item) => <ItemView item={item} isGrowing={isGrowing} />)
      return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>
    }
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} isGrowing={isGrowing} />
        </blockquote>
      )
    case 'table':
      return <Table head={block.head} rows={block.rows} />
    case 'math':
      return (
        <div className="formula-row" data-scrollable>
          <MathView tex={block.tex} isDisplay />
        </div>
      )
    case 'footnotes':
      return <Footnotes notes={block.notes} isGrowing={isGrowing} />
    case 'rule':
      return <hr />
  }
})

/** A box that is shown, not set: the text belongs to the one who wrote it. */
function ItemView({ item: { checked, blocks }, isGrowing }: { readonly item: Item; readonly isGrowing: boolean }) {
  return (
    <li className={checked === null ? undefined : 'task'}>
      {checked !== null && (
        <input type="checkbox" checked={checked} disabled aria-label={checked ? 'Done' : 'Not done'} />
      )}
      <Blocks blocks={blocks} isGrowing={isGrowing} />
    </li>
  )
}

type FootnotesProps = { readonly notes: readonly Footnote[]; readonly isGrowing: boolean }

const Footnotes = ({ notes, isGrowing }: FootnotesProps) => (
  <div className="footnotes">
    <ol aria-label="Footnotes">
      {notes.map(({ number, blocks }) => (
        <li key={number} data-footnote={number} tabIndex={-1}>
          <Blocks blocks={blocks} isGrowing={isGrowing} />
        </li>
      ))}
    </ol>
  </div>
)

type TableProps = { readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }

const Table = ({ head, rows }: TableProps) => (
  <ScrollBox className="table" aria-label="Table">
    <table>
      <thead>
        <tr>
          {inOrder(head, ({ align, inner }) => (
            <th scope="col" className={align ?? undefined}>
              {inlines(inner)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {inOrder(rows, (row) => (
          <tr>
            {inOrder(row, ({ align, inner }) => (
              <td className={align ?? undefined}>{inlines(inner)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollBox>
)
