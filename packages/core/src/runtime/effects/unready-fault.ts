import type { ModelFault } from '@holdfast/protocol'
import type { ModelReadiness } from '../../ports/provider.ts'

type Unready = Exclude<ModelReadiness, { readonly type: 'ready' }>

/** Why a model cannot be called, as the log keeps it: a model nobody knows is not a key that was refused. */
export const modelUnavailable = ({ type, message }: Unready): ModelFault => ({
  kind: type === 'no_credentials' ? 'auth_failed' : 'passthrough',
  message,
})
