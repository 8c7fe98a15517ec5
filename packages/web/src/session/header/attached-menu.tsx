import { escapeLine } from '@holdfast/protocol'
import { HeaderMenu } from '../../ui/header-menu.tsx'
import type { Seat } from '../state/control.ts'

type AttachedMenuProps = { readonly seat: Seat; readonly onHandOver: (client: string) => void }

/** Who is attached and who drives. Silent while this page is alone. */
export function AttachedMenu({ seat, onHandOver }: AttachedMenuProps) {
  if (seat.others.length === 0) return null
  return (
    <HeaderMenu label={`${seat.others.length + 1} attached`} title="Attached">
      <ul>
        <li>
          <span>You ({escapeLine(seat.me)})</span>
          <span className="menu-word">{seat.isDriving ? 'drives' : 'watches'}</span>
        </li>
        {seat.others.map(({ client, role }) => (
          <li key={client}>
            <span>{escapeLine(client)}</span>
            <span className="menu-word">{role === 'driver' ? 'drives' : 'watches'}</span>
            {seat.isDriving && (
              <button
                type="button"
                aria-label={`Hand over to ${escapeLine(client)}`}
                onClick={() => onHandOver(client)}
              >
                Hand over
              </button>
            )}
          </li>
        ))}
      </ul>
    </HeaderMenu>
  )
}
