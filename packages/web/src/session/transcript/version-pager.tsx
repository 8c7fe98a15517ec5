import type { Fault, Message, MessageId } from '@holdfast/protocol'
import { useContext, useEffect, useRef, useState } from 'react'
import { FaultNote } from '../../ui/elements.tsx'
import { useLive, useSession, whyHistoryLocked } from '../state/session-context.ts'
import { placeAmong, type Version, VersionsContext } from '../state/versions.ts'

/** The button to give the focus to, when the prompt that was switched to is drawn. */
let wanted: { readonly prompt: MessageId; readonly step: 'before' | 'after' } | null = null

/** Switches between the versions of a prompt that was edited or sent again. Nothing is drawn for a prompt with one version. */
export function VersionPager({ prompt }: { readonly prompt: Message }) {
  const { asks } = useSession()
  const place = placeAmong(useContext(VersionsContext), prompt)
  const hold = useLive(whyHistoryLocked)
  const [fault, setFault] = useState<Fault | null>(null)
  const buttons = { before: useRef<HTMLButtonElement>(null), after: useRef<HTMLButtonElement>(null) }
  const isShown = place !== null
  const { before, after } = buttons
  useEffect(() => {
    if (!isShown || wanted?.prompt !== prompt.id) return
    const [first, second] = wanted.step === 'before' ? [before, after] : [after, before]
    wanted = null
    if (first.current?.disabled) second.current?.focus()
    else first.current?.focus()
  }, [isShown, prompt.id, before, after])
  if (!place) return null

  const button = (step: 'before' | 'after', label: string, target: Version | null) => (
    <button
      type="button"
      className="quiet"
      ref={buttons[step]}
      aria-label={label}
      title={hold ?? label}
      disabled={target === null || hold !== null}
      onClick={async () => {
        if (!target) return
        wanted = { prompt: target.prompt, step }
        setFault(await asks.switchBranch(target.branch))
      }}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={step === 'before' ? 'M9.500 4l-4 4 4 4' : 'M6.500 4l4 4-4 4'} />
      </svg>
    </button>
  )
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div className="version-pager" role="group" aria-label={`Version ${place.number} of ${place.count}`}>
      {button('before', 'Previous version of this prompt', place.before)}
      <span aria-hidden="true">
        {place.number}/{place.count}
      </span>
      {button('after', 'Next version of this prompt', place.after)}
      <FaultNote fault={fault} />
    </div>
  )
}
