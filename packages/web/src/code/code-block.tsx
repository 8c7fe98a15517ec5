import { type ReactNode, useState } from 'react'
import { CodeText } from './code-text.tsx'
import { CopyButton } from './copy-button.tsx'
import { isHighlightable } from './use-highlight.ts'

type CodeBlockProps = {
  readonly language: string
  readonly text: string
  /** The closing fence has not come yet. */
  readonly isOpen: boolean
  /** A button beside the copy button. */
  readonly action?: ReactNode
}

/** Shows a block of code. Of a very long one, head and tail until the whole is asked for. */
export function CodeBlock({ language, text, isOpen, action }: CodeBlockProps) {
  const [isWhole, setWhole] = useState(false)
  const cut = isOpen || isWhole || isHighlightable(text) ? null : cutLines(text)
  return (
    <figure className="code">
      <figcaption>
        <span>{language || 'text'}</span>
        {action}
        <CopyButton text={() => text} label="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} data-scrollable>
        <code>
          {cut === null ? (
            <CodeText language={language} text={text} isOpen={isOpen} />
          ) : (
            <CodeText language="" text={cut.head} />
          )}
        </code>
        {cut !== null && (
          <>
            <button type="button" className="code-cut" onClick={() => setWhole(true)}>
              Show {cut.hidden.toLocaleString('en')} more lines
            </button>
            <code>
              <CodeText language="" text={cut.tail} />
            </code>
          </>
        )}
      </pre>
    </figure>
  )
}

const headLines = 200
const tailLines = 300

type Cut = { readonly head: string; readonly tail: string; readonly hidden: number }

/** Returns the head and the tail of a text; null if that would hide nothing. */
export function cutLines(text: string): Cut | null {
  const lines = text.split('\n')
  const hidden = lines.length - headLines - tailLines
  if (hidden <= 0) return null
  return { head: lines.slice(0, headLines).join('\n'), tail: lines.slice(-tailLines).join('\n'), hidden }
}
