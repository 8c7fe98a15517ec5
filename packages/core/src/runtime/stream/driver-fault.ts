import { type ClientId, type Command, type Fault, fault } from '@holdfast/protocol'
import type { DriverControl } from './driver-control.ts'

/**
 * Whether the one who commands may: null when so. The seat commands are carried out here, because who sits where is not on
 * record. A command without a name is the embedding program's own word.
 */
export function driverFault(seats: DriverControl, by: ClientId | null, command: Command): Fault | null {
  switch (command.type) {
    case 'claimDriver':
      return by === null ? nameless : seats.claim(by)
    case 'handOver':
      return by === null ? nameless : seats.handOver(by, command.client)
    default:
      return by === null ? null : seats.refusal(by)
  }
}

const nameless = fault(
  'not_subscribed',
  'Only a client that is attached can take or give the wheel: say which one you are.',
)
