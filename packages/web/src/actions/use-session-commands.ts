import { useKey } from '../keys/use-key.ts'
import { useActions } from './actions.tsx'
import type { ActionTarget } from './session-actions.ts'

/** Offers the actions on the session on screen to the palette. */
export function useSessionCommands(target: ActionTarget | null, isLost: boolean): void {
  const actions = useActions()
  const isOn = target !== null && !isLost
  const on = (work: (target: ActionTarget) => unknown) => () => void (target && work(target))
  useKey('rename', on(actions.askName), isOn)
  useKey('pin', on(actions.pin), isOn)
  useKey('fork', on(actions.fork), isOn)
  useKey('share', on(actions.openShare), isOn && actions.mayShare)
  useKey('export', on(actions.askFormat), isOn)
  useKey('delete', on(actions.remove), isOn)
}
