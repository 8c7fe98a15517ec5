import { escapeLine, type LivePart } from '@holdfast/protocol'
import { Markdown } from '../../markdown/markdown.tsx'
import { tokensText } from '../../text/usage-text.ts'
import { ThinkingBlock } from './thinking-block.tsx'

type LivePartsProps = { readonly parts: readonly LivePart[] }

/** Shows streaming parts. The output of a running call is shown in its card. */
export function LiveParts({ parts }: LivePartsProps) {
  return parts.map((part) => (
    <LivePartView key={`${part.step}.${part.part}.${part.kind}`} part={part} isLast={part === parts.at(-1)} />
  ))
}

type LivePartProps = { readonly part: LivePart; readonly isLast: boolean }

function LivePartView({ part, isLast }: LivePartProps) {
  switch (part.kind) {
    case 'thinking':
      return <ThinkingBlock text={part.text} isLive={isLast} />
    case 'text':
      return (
        <article className={isLast ? 'assistant prose streaming' : 'assistant prose'} aria-label="Assistant">
          <Markdown text={part.text} />
        </article>
      )
    case 'input':
      return (
        <p className="preparing working">
          Preparing {escapeLine(part.tool ?? 'a call')}
          {part.text.length > 200 && `, ${tokensText(part.text.length)} characters`}
        </p>
      )
    case 'output':
      return null
  }
}
