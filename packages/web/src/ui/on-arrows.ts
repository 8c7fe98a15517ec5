import type { KeyboardEvent } from 'react'

/** Moves the focus in a panel with the arrow keys. */
export function onArrows(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (step === 0) return
  const choices = [...event.currentTarget.querySelectorAll<HTMLElement>('button:enabled, a[href]')]
  if (choices.length === 0) return
  event.preventDefault()
  const from = choices.findIndex((choice) => choice.matches(':focus'))
  const next = from < 0 ? (step > 0 ? 0 : choices.length - 1) : (from + step + choices.length) % choices.length
  choices[next]?.focus()
}
