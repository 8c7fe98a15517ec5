import { escapeLine } from '@holdfast/protocol'
import { HeaderMenu } from '../../ui/header-menu.tsx'
import type { Control } from '../state/control.ts'

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
