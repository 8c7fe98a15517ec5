import { escapeHidden } from '@holdfast/protocol'
import { useState } from 'react'

type CodeBlockProps = { readonly language: string; readonly text: string }

export function CodeBlock({ language, text }: CodeBlockProps) {
  const [said, setSaid] = useState('Copy')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      setSaid('Not allowed') // the browser keeps the clipboard from pages that are not on https or localhost
    }
    setTimeout(() => setSaid('Copy'), 1500)
  }
  return (
    <figure className="code">
      <figcaption>
        <span>{language || 'text'}</span>
        <button type="button" className="quiet" onClick={copy}>
          {said}
        </button>
      </figcaption>
      <pre>
        <code>{escapeHidden(text)}</code>
      </pre>
    </figure>
  )
}
