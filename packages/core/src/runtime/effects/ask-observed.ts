import type { SessionId } from '@holdfast/protocol'
import type { RuntimeDeps } from '../dependencies.ts'
import { completeText, type WrittenText } from './one-off-completion.ts'

type Asked = Parameters<typeof completeText>

/** Asks a model for a text where whoever looks on sees it. */
export function completeObserved(
  { observer }: Pick<RuntimeDeps, 'observer'>,
  session: SessionId,
  ...[provider, request, options]: Asked
): Promise<WrittenText> {
  const ask = () => completeText(provider, request, options)
  return observer?.asking?.(session, request.model, ask) ?? ask()
}
