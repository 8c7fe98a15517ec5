import { escapeHidden } from '@holdfast/protocol'
import { memo, type ReactNode } from 'react'
import { inOrder } from '../ui/in-order.tsx'
import { type Block, parseBlocks } from './blocks.ts'
import { CodeBlock } from './code-block.tsx'
import { type Inline, parseInline } from './inline.ts'

const nestingMax = 6
const headings = ['h3', 'h4', 'h5', 'h6'] as const // the page itself has the first two

type MarkdownProps = { readonly text: string; readonly depth?: number }

/** Text from a model or a person as React elements. Nothing is ever handed to the browser as HTML. */
export function Markdown({ text, depth = 0 }: MarkdownProps) {
  if (depth >= nestingMax) return <p>{text}</p>
  return inOrder(parseBlocks(text), (block) => <BlockView block={block} depth={depth} />)
}

type BlockProps = { readonly block: Block; readonly depth: number }

/** Redrawn only when its own text changed: while an answer streams, that is its last block. */
const BlockView = memo(
  function BlockView({ block, depth }: BlockProps) {
    switch (block.type) {
      case 'paragraph':
        return <p dir="auto">{inlines(block.text)}</p>
      case 'heading': {
        const Heading = headings[block.level - 1] ?? 'h6'
        return <Heading dir="auto">{inlines(block.text)}</Heading>
      }
      case 'code':
        return <CodeBlock language={block.language} text={block.text} />
      case 'list': {
        const items = inOrder(block.items, (text) => (
          <li>
            <Markdown text={text} depth={depth + 1} />
          </li>
        ))
        return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>
      }
      case 'quote':
        return (
          <blockquote>
            <Markdown text={block.text} depth={depth + 1} />
          </blockquote>
        )
      case 'table':
        return <TableView head={block.head} rows={block.rows} />
      case 'rule':
        return <hr />
    }
  },
  (before, after) =>
    before.block.type === after.block.type &&
    before.block.source === after.block.source &&
    before.depth === after.depth,
)

type TableProps = { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }

function TableView({ head, rows }: TableProps) {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            {inOrder(head, (cell) => (
              <th scope="col">{inlines(cell)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {inOrder(rows, (row) => (
            <tr>
              {inOrder(row, (cell) => (
                <td>{inlines(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const inlines = (text: string): ReactNode => parseInline(text).map(inlineView)

function inlineView(inline: Inline, place: number): ReactNode {
  switch (inline.type) {
    case 'text':
      return inline.text
    case 'code':
      return <code key={place}>{escapeHidden(inline.text)}</code>
    case 'strong':
      return <strong key={place}>{inline.inner.map(inlineView)}</strong>
    case 'emphasis':
      return <em key={place}>{inline.inner.map(inlineView)}</em>
    case 'struck':
      return <s key={place}>{inline.inner.map(inlineView)}</s>
    case 'link':
      return (
        <a key={place} href={inline.href} target="_blank" rel="noopener noreferrer nofollow" title={inline.href}>
          {inline.inner.map(inlineView)}
        </a>
      )
  }
}
