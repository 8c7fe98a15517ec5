import { escapeLine, type Trust } from '@holdfast/protocol'
import { HeaderMenu } from '../../ui/header-menu.tsx'
import { trustByTool } from '../approval/trust-text.ts'
import type { Control } from '../state/session-context.ts'

type AttachedMenuProps = { readonly control: Control; readonly onHandOver: (client: string) => void }

/** Lists the attached clients. Hidden while this page is alone. */
export function AttachedMenu({ control, onHandOver }: AttachedMenuProps) {
  if (control.others.length === 0) return null
  return (
    <HeaderMenu label={`${control.others.length + 1} attached`} title="Attached">
      <ul>
        <li>
          <span>You ({escapeLine(control.me)})</span>
          <span className="menu-word">{control.isDriving ? 'driver' : 'viewer'}</span>
        </li>
        {control.others.map(({ client, role }) => (
          <li key={client}>
            <span>{escapeLine(client)}</span>
            <span className="menu-word">{role}</span>
            {control.isDriving && (
              <button
                type="button"
                aria-label={`Give control to ${escapeLine(client)}`}
                onClick={() => onHandOver(client)}
              >
                Give control
              </button>
            )}
          </li>
        ))}
      </ul>
    </HeaderMenu>
  )
}

type TrustMenuProps = {
  readonly trust: readonly Trust[]
  readonly watching: string | null
  /** A tool's name, or `all`. */
  readonly onRevoke: (tool: string) => void
}

/** Lists what runs without asking, with a way to revoke it. Hidden while everything asks. */
export function TrustMenu({ trust, watching, onRevoke }: TrustMenuProps) {
  if (trust.length === 0) return null
  const isOff = watching !== null
  return (
    <HeaderMenu label={`${trust.length} trusted`} title="Runs without asking">
      <ul>
        {trustByTool(trust).map(([tool, text]) => (
          <li key={tool}>
            <code>{escapeLine(tool)}</code>
            <span className="menu-word">{text}</span>
            <button
              type="button"
              disabled={isOff}
              title={watching ?? undefined}
              aria-label={`Revoke ${escapeLine(tool)}`}
              onClick={() => onRevoke(tool)}
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
      <button type="button" disabled={isOff} title={watching ?? undefined} onClick={() => onRevoke('all')}>
        Revoke all
      </button>
    </HeaderMenu>
  )
}
