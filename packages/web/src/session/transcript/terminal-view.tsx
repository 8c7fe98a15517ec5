import type { BlobHash } from '@holdfast/protocol'
import { useLayoutEffect, useRef } from 'react'
import { outputText } from '../../text/format.ts'
import { ScrollBox } from '../../ui/scroll-box.tsx'
import { useSession } from '../state/session-context.ts'

type TerminalViewProps = {
  readonly label: string
  readonly text: string
  /** Grows: it follows the end until a person scrolls up. */
  readonly isLive?: boolean
  /** The text begins in the middle of the output. */
  readonly isCut?: boolean
  /** The whole output, if `text` is only its head and tail. */
  readonly blob?: { readonly hash: BlobHash; readonly bytes: number } | undefined
}

const endSlackPx = 24

/** Shows the output of a program. */
export function TerminalView({ label, text, isLive = false, isCut = false, blob }: TerminalViewProps) {
  const box = useRef<HTMLDivElement>(null)
  const isHeld = useRef(true)

  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is what makes it grow
  useLayoutEffect(() => {
    if (isLive && isHeld.current && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [text, isLive])

  const onScroll = () => {
    const { current } = box
    if (current) isHeld.current = current.scrollHeight - current.scrollTop - current.clientHeight < endSlackPx
  }
  const shown = isCut ? `[…]\n${text}` : text
  return (
    <>
      <ScrollBox ref={box} className="output" aria-label={label} data-live={isLive} onScroll={onScroll}>
        <pre>
          <code>{outputText(shown) || '(nothing)'}</code>
        </pre>
      </ScrollBox>
      {blob && <WholeOutput {...blob} />}
    </>
  )
}

function WholeOutput({ hash, bytes }: { readonly hash: BlobHash; readonly bytes: number }) {
  const { handle } = useSession()
  return (
    <p className="preview-where" role="note">
      <span>
        Only head and tail are shown.{' '}
        <a href={`/v1/sessions/${handle.id}/blobs/${hash}`} download={`output-${hash.slice(0, 8)}.txt`}>
          Download the whole output ({bytes.toLocaleString('en')} bytes)
        </a>
      </span>
    </p>
  )
}
