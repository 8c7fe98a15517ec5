import { firstLine } from '@holdfast/protocol'
import { Fold } from './fold.tsx'

type ThinkingBlockProps = { readonly text: string; readonly isLive: boolean; readonly isInterrupted?: boolean }

export function ThinkingBlock({ text, isLive, isInterrupted = false }: ThinkingBlockProps) {
  const said = isLive ? 'Thinking' : isInterrupted ? 'Thought, interrupted' : 'Thought'
  return (
    <Fold
      className="thinking"
      label={said}
      isOpenAtFirst={isLive}
      head={
        <>
          <span className={isLive ? 'thinking-word working' : 'thinking-word'}>{said}</span>
          <span className="fold-peek">{firstLine(text, 120)}</span>
        </>
      }
    >
      {() => (
        <p className="thinking-text" dir="auto">
          {text.trim()}
        </p>
      )}
    </Fold>
  )
}
