import { escapeLine, type Trust } from '@holdfast/protocol'
import { clientText } from '../../screens/client-name.ts'
import { counted } from '../../text/format.ts'
import { HeaderMenu } from '../../ui/popover.tsx'
import { trustByTool } from '../approval/trust-text.ts'
import type { Control } from '../state/session-context.ts'

type AttachedMenuProps = { readonly control: Control; readonly onHandOver: (client: string) => void }

/** Lists the attached clients. Hidden while this page is alone. */
export function AttachedMenu({ control, onHandOver }: AttachedMenuProps) {
  if (control.others.length === 0) return null
  return (
    <HeaderMenu label={counted(control.others.length + 1, 'screen')} title="Screens with this session">
      <ul>
        <li>
          <span>You, in this tab</span>
          <span className="menu-word">{roleWord(control.isDriving)}</span>
        </li>
        {control.others.map(({ client, role }) => (
          <li key={client}>
            <span title={escapeLine(client)}>{capital(clientText(client, control.me))}</span>
            <span className="menu-word">{roleWord(role === 'driver')}</span>
            {control.isDriving && (
              <button
                type="button"
                aria-label={`Give control to ${clientText(client, control.me)}`}
                disabled={control.isLost}
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

const roleWord = (isDriving: boolean): string => (isDriving ? 'in control' : 'watches')

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

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
