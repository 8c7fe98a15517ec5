import { type Fault, fault } from '@holdfast/protocol/fault'

/** Returns the fault for a code that no phone could use. */
export const onlyThisMachine = (url: string): Fault =>
  fault(
    'unreachable',
    `Only this machine can reach ${url}, so a phone cannot. Start the server with --host 0.0.0.0, or with --public-url behind a proxy.`,
    { url },
  )
