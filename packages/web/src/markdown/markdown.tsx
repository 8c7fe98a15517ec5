import { type Block, type Cell, createStreamingParser, type Inline } from '@holdfast/client/markdown'
import { escapeHidden } from '@holdfast/protocol'
import { memo, type ReactNode, useState } from 'react'
import { inOrder } from '../ui/elements.tsx'

const headings = ['h3', 'h4', 'h5', 'h6'] as const // the page itself has the first two

/** Draws the text of a model or a person as React elements. No text is ever given to the browser as HTML. */
export function Markdown({ text }: { readonly text: string }) {
  const [parse] = useState(createStreamingParser)
  return <Blocks blocks={parse(text)} />
}

const Blocks = ({ blocks }: { readonly blocks: readonly Block[] }) =>
  inOrder(blocks, (block) => <OneBlock block={block} />)

/** Redraws only when the block changed: while an answer streams, only the last ones are new objects. */
const OneBlock = memo(function OneBlock({ block }: { readonly block: Block }) {
  switch (block.type) {
    case 'paragraph':
      return <p dir="auto">{inlines(block.inner)}</p>
    case 'heading': {
      const Heading = headings[block.level - 1] ?? 'h6'
      return <Heading dir="auto">{inlines(block.inner)}</Heading>
    }
    case 'code':
      return <CodeBlock language={block.language} text={block.text} />
    case 'list': {
      const items = inOrder(block.items, (blocks) => (
        <li>
          <Blocks blocks={blocks} />
        </li>
      ))
      return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>
    }
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      )
    case 'table':
      return <Table head={block.head} rows={block.rows} />
    case 'rule':
      return <hr />
  }
})

function Table({ head, rows }: { readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }) {
  return (
    <div className="table">
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
    </div>
  )
}

const inlines = (all: readonly Inline[]): ReactNode => inOrder(all, inlineView)

function inlineView(inline: Inline): ReactNode {
  switch (inline.type) {
    case 'text':
      return inline.text
    case 'code':
      return <code>{escapeHidden(inline.text)}</code>
    case 'strong':
      return <strong>{inlines(inline.inner)}</strong>
    case 'emphasis':
      return <em>{inlines(inline.inner)}</em>
    case 'struck':
      return <s>{inlines(inline.inner)}</s>
    case 'link':
      return (
        <a href={inline.href} target="_blank" rel="noopener noreferrer nofollow" title={inline.href}>
          {inlines(inline.inner)}
        </a>
      )
  }
}

function CodeBlock({ language, text }: { readonly language: string; readonly text: string }) {
  const [label, setLabel] = useState('Copy')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setLabel('Copied')
    } catch {
      setLabel('Not allowed') // browsers allow the clipboard only on https and localhost
    }
    setTimeout(() => setLabel('Copy'), 1500)
  }
  return (
    <figure className="code">
      <figcaption>
        <span>{language || 'text'}</span>
        <button type="button" className="quiet" onClick={copy}>
          {label}
        </button>
      </figcaption>
      <pre>
        <code>{escapeHidden(text)}</code>
      </pre>
    </figure>
  )
}
