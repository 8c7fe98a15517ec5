import { useEffect } from 'react'
import { useShared } from './use-screens.ts'
import { tabTitle, topWaiting } from './waiting.ts'

/** Sets the title of the tab, with the number of sessions that wait. `title` is null where no session is shown. */
export function useTabTitle(title: string | null, isAsked: boolean): void {
  const waiting = useShared(({ waiting }) => topWaiting(waiting).length)
  useEffect(() => {
    document.title = tabTitle(waiting, isAsked, title)
  }, [title, isAsked, waiting])
}
