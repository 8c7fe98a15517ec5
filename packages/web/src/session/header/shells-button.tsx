import { counted } from '../../text/format.ts'
import type { Panel } from '../panel/use-panel.ts'

type ShellsButtonProps = { readonly count: number; readonly panel: Panel }

/** Says how many commands run in the background, and opens the panel that lists them. Hidden while none runs. */
export function ShellsButton({ count, panel }: ShellsButtonProps) {
  if (count === 0) return null
  const said = `${counted(count, 'command')} in the background`
  return (
    <button
      type="button"
      className="quiet header-menu-button shells-button"
      aria-label={said}
      aria-expanded={panel.isOpen}
      aria-controls={panel.id}
      title={said}
      onClick={panel.toggle}
    >
      <span className="dot running" aria-hidden="true" />
      {counted(count, 'command')}
    </button>
  )
}
