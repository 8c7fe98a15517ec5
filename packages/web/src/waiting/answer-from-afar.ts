import { ClientId, type CommandInput, type Fault, type SessionHandle } from '@holdfast/protocol'

type Respond = Extract<CommandInput, { readonly type: 'respondToApproval' }>

/**
 * Answers a question of a session that is not open in this tab. If another screen of the same person has control, this tab
 * borrows it for the answer and gives it back. Returns why not, if refused.
 */
export async function answerFromAfar(handle: SessionHandle, me: string, answer: Respond): Promise<Fault | null> {
  const plain = await handle.submit(answer)
  if (plain.ok) return null
  // `needs` is set if the token may not answer at all.
  if (plain.fault.code !== 'not_driver' || 'needs' in (plain.fault.details ?? {})) return plain.fault
  const seat = await handle.attach({ client: me })
  if (!seat.ok) return seat.fault
  const driver = ClientId.safeParse(plain.fault.details?.['driver']).data
  try {
    const claimed = await seat.value.submit({ type: 'claimDriver', takeOver: true })
    if (!claimed.ok) return claimed.fault
    const answered = await seat.value.submit(answer)
    // The other screen may have left meanwhile: then nobody has control, as before.
    if (driver !== undefined) await seat.value.submit({ type: 'handOver', client: driver })
    return answered.ok ? null : answered.fault
  } finally {
    await seat.value.detach()
  }
}
