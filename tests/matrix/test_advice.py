#!/usr/bin/env python3
"""`memtool advise` on recordings of programs of which another one does what it advises: peaks as that one had them.

tests/recordings/README.md says what the programs are. A recorded peak of None: nothing is to be advised."""

import glob
import gzip
import json
import os
import re
import subprocess

import mt

RECORDINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "recordings")
# advice, recording, the peak of the changed program, how far the saving may be off in percent, how sure it says it is
PAIRS = (
    ("no_grad", "cnn_grad", 7573632, 7, "about"),
    ("no_grad", "gpt_grad", 2105352, 0.1, "about"),
    ("no_grad", "lstm_grad", 2133336, 7.5, "up_to"),
    ("no_grad", "mlp_grad", 1312768, 0.1, "up_to"),
    ("no_grad", "cnn_total", 7573632, 1.2, "about"),
    ("no_grad", "distill", 7665116, 2.3, "about"),
    ("no_grad", "resnet_eval", 5044368, 0.1, "up_to"),
    ("no_grad", "diffusion_sample", 5651180, 7.5, "up_to"),
    ("no_grad", "mlp_val_grad", 435720, 14.3, "up_to"),  # a result is named until the next validation
    ("no_grad", "mlp_outs_grad", 9056260, 10.9, "up_to"),  # the same
    ("no_grad", "gan", 6392408, 0.3, "up_to"),
    ("accumulate", "gan", 2988580, 0.2, "about"),
    ("detach", "cnn_total", 30081152, 0.1, "up_to"),
    ("detach", "gpt_total", 15151112, 0.1, "up_to"),
    ("detach", "mlp_slice_graph", 2244624, 12.4, "up_to"),  # of x[:1].detach().clone()
    ("stop_keeping", "mlp_slice_kept", 2344968, 0.8, "up_to"),
    ("stop_keeping", "attention_kept", 1991192, 0.1, "up_to"),
    ("stop_keeping", "keep_outputs", 975488, 0.1, "up_to"),
    ("stop_keeping", "keep_gradients", 975488, 0.1, "up_to"),
    ("stop_keeping", "keep_hooks", 970368, 12.6, "up_to"),
    ("stop_keeping", "keep_features", 924200, 16.7, "up_to"),  # of a cache of one
    ("stop_keeping", "keep_weights", 2968744, 0.1, "up_to"),  # copies, which no graph holds
    # record_compiled.py: layers within regions of torch.compile; a model's copy that is no part of what is kept; copies outside of every op
    ("bfloat16", "compiled", 510996, 12.3, "up_to"),
    ("bfloat16", "convolved", 950720, 6.2, "up_to"),  # a product of a backward pass
    ("stop_keeping", "keep_replay", 540852, 50.1, "up_to"),  # what it still learns from is of four steps
    ("stop_keeping", "keep_states", 264196, 14.4, "up_to"),  # of one copy
    ("no_grad", "listed", 1214976, 0.1, "up_to"),  # the list keeps its predictions all the same
    ("detach", "listed", 1346048, 0.1, "up_to"),
    ("no_grad", "listed_detached", 1214976, 0.1, "up_to"),
    ("no_grad", "keep_weights", 3246484, 0.1, "up_to"),  # the data go with the graph, too
    ("accumulate", "attention_kept", 2482076, 3.1, "about"),  # what is kept is kept of all parts
    ("checkpoint", "cnn_plain", 47113320, 0.1, "about"),
    ("checkpoint", "gpt_adamw", 13911324, 0.1, "about"),
    ("checkpoint", "resnet", 9886504, 0.7, "about"),
    ("accumulate", "gpt_adamw", 13537500, 0.1, "about"),
    ("accumulate", "cnn_b32", 17691880, 0.6, "about"),
    ("accumulate", "mlp_zero_first", 330784, 0.1, "about"),
    ("zero_grad_early", "mlp_wide_late", 12629044, 0.1, "exact"),
    ("zero_grad_early", "gan_adam", 549756, 0.1, "about"),  # the generator's pass makes those of the discriminator again
    # record_closure.py: the optimizer's step calls a closure
    ("accumulate", "closure", 4384320, 0.1, "about"),
    ("zero_grad_early", "closure", 6742080, 0.1, "exact"),
    ("accumulate", "hooked", 1285300, 0.1, "about"),  # record_hooked.py: it would raise the peak, as all gradients are kept
    ("foreach_false", "closure_small", 3454136, 0.1, "exact"),
    ("zero_grad_early", "mlp_big_keep", 38478032, 0.1, "about"),
    # what backward hooks have taken goes not with an optimizer's gradients
    ("zero_grad_early", "keep_last_gradients", 1647112, 0.1, "exact"),
    ("set_to_none", "keep_filled_gradients", 1477640, 0.1, "exact"),  # the last step's are not zeroed any more
    ("set_to_none", "mlp_big_keep", 38478032, 0.1, "exact"),
    ("set_to_none", "gan_filled", 554620, 9.8, "up_to"),  # the other model's zero_grad comes first, and frees nothing of its own
    ("foreach_false", "mlp_wide_foreach", 36351188, 0.1, "exact"),
    ("fused", "mlp_wide_foreach", 31695824, 0.1, "exact"),
    ("fused", "multi_task", 1369352, 0.1, "exact"),
    ("foreach_false", "optim_adamax", 1130544, 0.1, "exact"),
    ("foreach_false", "optim_adadelta", 1196592, 0.1, "up_to"),
    ("foreach_false", "optim_adagrad", 866864, 0.1, "exact"),
    ("foreach_false", "optim_adamwd", 1262128, 0.1, "exact"),
    ("foreach_false", "optim_nobias", 1253408, 0.1, "exact"),
    ("foreach_false", "optim_rms", 866852, 0.1, "exact"),
    ("foreach_false", "optim_radam_5", 448796, 0.1, "about"),  # it would raise the peak
    ("foreach_false", "optim_radam_5wd", 514332, 0.1, "about"),
    ("foreach_false", "optim_radam_6", 645404, 0.1, "about"),  # the sixth step rectifies
    ("fused", "optim_adagrad", 804904, 0.1, "exact"),
    ("fused", "optim_adamwd", 1069096, 0.1, "exact"),
    ("chunked_loss", "bert", 11896092, 7.7, "about"),
    ("chunked_loss", "gpt_vocab", 43626624, 0.1, "about"),
    ("chunked_loss", "words_accumulated", 2512400, 10.4, "about"),  # a sum of parts is there for a moment, too
    ("load_on_demand", "cnn_preload", 5462296, 0.1, "exact"),
    ("load_on_demand", "mlp_two_alike", 805152, 0.1, "about"),
    ("del_before_backward", "gpt_adamw", 24396764, 0.1, "exact"),
    ("bfloat16", "conv_only", 5168248, 0.1, "about"),
    ("bfloat16", "cnn_pool", 3331810, 0.2, "about"),
    # record_quantized.py: products copy an operand
    ("bfloat16", "quantized_int8", 484608, 22.9, "up_to"),
    ("bfloat16", "quantized_lora", 498224, 27.7, "up_to"),
    ("bfloat16", "served", 408960, 0.1, "up_to"),  # record_served.py: converting it is the peak
    # record_models.py
    ("accumulate", "vae", 4453356, 0.1, "about"),
    ("bfloat16", "vae", 2380300, 0.1, "about"),
    ("no_grad", "vae_eval", 1971408, 1.4, "up_to"),
    ("accumulate", "moe", 8743024, 1.7, "about"),
    ("bfloat16", "moe", 10492388, 0.7, "about"),
    ("checkpoint", "moe", 8649456, 0.3, "about"),
    ("no_grad", "moe_eval", 2730592, 1.3, "about"),
    ("accumulate", "lora", 7411944, 1.5, "about"),
    ("bfloat16", "lora", 12954344, 0.1, "about"),
    ("checkpoint", "lora", 9636848, 0.2, "about"),
    ("no_grad", "lora_eval", 5999616, 8, "up_to"),  # q, k and v are named to the end of each block
    ("bfloat16", "dlrm", 4367764, 0.1, "about"),
    ("foreach_false", "dlrm", 7756380, 0.1, "exact"),
    ("fused", "dlrm", 7451104, 0.1, "exact"),
    ("no_grad", "dlrm_eval", 2673108, 36.3, "up_to"),  # what was joined is named to the end
    ("accumulate", "mamba", 840724, 3.5, "about"),
    ("bfloat16", "mamba", 1256496, 2.2, "about"),
    ("checkpoint", "mamba", 1070996, 1.5, "about"),
    ("no_grad", "mamba_eval", 320704, 1.5, "up_to"),
    # record_unseen.py: the final figure; no rule was made or changed with these
    ("accumulate", "audio", 5266152, 1.5, "about"),
    ("bfloat16", "audio", 10440852, 0.7, "about"),
    ("checkpoint", "audio", 10284264, 0.3, "about"),
    ("no_grad", "audio_eval", 6217632, 15.8, "up_to"),  # what is split is named to the end of each layer
    ("no_grad", "audio_eval_stack", 6217632, 9.9, "up_to"),  # the same
    ("accumulate", "graph", 1801536, 1.1, "about"),
    ("bfloat16", "graph", 3406268, 3.6, "up_to"),
    ("no_grad", "graph_eval", 2348832, 0.1, "up_to"),
    ("accumulate", "unet", 2269748, 1.4, "about"),
    ("bfloat16", "unet", 4296944, 2.6, "up_to"),
    ("accumulate", "siamese", 3006512, 28.4, "up_to"),
    ("bfloat16", "siamese", 2207404, 3.2, "about"),
    ("no_grad", "siamese_eval", 1319176, 0.1, "up_to"),
    ("accumulate", "pictures", 2304672, 5.2, "about"),
    ("bfloat16", "pictures", 4686920, 7.2, "about"),
    ("checkpoint", "pictures", 5271456, 0.6, "about"),
    ("no_grad", "pictures_eval", 2851400, 11.2, "up_to"),  # a call names what it is given: with stacks, it shows
    ("no_grad", "pictures_eval_stack", 2851400, 0.1, "up_to"),
    ("no_grad", "decoder_eval", 683264, 14.7, "up_to"),
    # record_evaluation.py
    ("no_grad", "encoder_eval", 11411712, 1.6, "about"),  # another path is taken without a graph
    ("no_grad", "weights_eval", 5817600, 11.8, "up_to"),  # and so, where weights are returned
    # record_newest.py: kinds that came after all rules stood; no_grad and checkpoint were mended with them
    ("accumulate", "swin", 3400648, 2.1, "about"),
    ("bfloat16", "swin", 5375620, 0.1, "about"),
    ("checkpoint", "swin", 4306040, 2.2, "about"),  # of each layer; every second one is like the one before
    ("no_grad", "swin_eval", 2906408, 12.4, "up_to"),  # q, k, v and windows are named to the end of each layer
    ("accumulate", "clip", 2606440, 5.7, "up_to"),
    ("bfloat16", "clip", 2721180, 4.1, "about"),
    ("checkpoint", "clip", 3613512, 0.7, "about"),
    ("no_grad", "clip_eval", 1408604, 4.8, "about"),
    ("accumulate", "translator", 3907964, 1.1, "about"),
    ("bfloat16", "translator", 2998200, 2.9, "about"),  # what its LSTM keeps takes three quarters
    ("no_grad", "translator_eval", 1420360, 5, "up_to"),
    ("accumulate", "nerf", 5668752, 0.1, "about"),
    ("bfloat16", "nerf", 9678252, 0.1, "up_to"),
    ("no_grad", "nerf_eval", 6900176, 16.7, "up_to"),  # one function names all of it
    ("accumulate", "attends", 1275272, 1.2, "about"),
    ("bfloat16", "attends", 2430708, 0.1, "up_to"),
    ("checkpoint", "attends", 1983608, 0.4, "up_to"),
    ("no_grad", "attends_eval", 1139748, 0.1, "up_to"),
    ("detach", "attends_total", 8434476, 33.4, "up_to"),  # loss names the last graph until it is bound again
    ("accumulate", "wavenet", 2877720, 1.3, "about"),
    ("bfloat16", "wavenet", 5532880, 0.1, "about"),
    ("checkpoint", "wavenet", 6280016, 5.1, "about"),
    ("no_grad", "wavenet_eval", 4039040, 15.3, "up_to"),  # skips are named until the next
    ("bfloat16", "scaled", 544832, 0.1, "up_to"),  # its logits are asked for in float32
    ("detach", "scaled_total", 741392, 33.4, "up_to"),  # loss names the last graph until it is bound again
    ("no_grad", "detr_eval", 3260996, 0.1, "up_to"),
    ("no_grad", "validated", 1260076, 0.1, "up_to"),  # what graphs of earlier batches hold of their data
    ("no_grad", "keep_data", 787460, 27, "up_to"),  # which a list holds, too
    ("no_grad", "actor", 1483928, 0.9, "up_to"),  # what it plays outlives the steps in which it learns
    ("del_results", "filtered", 1834980, 33.5, "up_to"),  # of a complex result nothing is seen to take
    ("del_results", "walked", 43561200, 50, "up_to"),  # an expression that stays whole looks like a name that is bound again
    ("del_results", "attended", 3407872, 200.1, "up_to"),  # the same
    ("del_results", "clustered", 3632640, 2.4, "up_to"),
    ("del_results", "reused", 7840000, 50.1, "up_to"),  # which of several is needed again, sizes do not tell
    ("del_results", "patched", 688128, 0.1, "up_to"),  # names are bound again
    ("del_results", "powered", 1382400, 8.1, "up_to"),
    # record_held_back.py: recorded before the last changes of rules, and asked once, after them
    ("accumulate", "flow", 4164248, 2.9, "about"),
    ("bfloat16", "flow", 3927700, 3.4, "about"),
    ("checkpoint", "flow", 4327960, 8.2, "up_to"),
    ("no_grad", "flow_eval", 1617408, 0.1, "up_to"),
    ("accumulate", "mixer", 5320840, 1.7, "about"),
    ("bfloat16", "mixer", 7287380, 2.1, "about"),
    ("checkpoint", "mixer", 5596584, 0.3, "about"),
    ("no_grad", "mixer_eval", 2303528, 5.6, "up_to"),
    ("accumulate", "points", 4638600, 5, "about"),
    ("bfloat16", "points", 11028858, 0.1, "about"),
    ("no_grad", "points_eval", 7048868, 6, "up_to"),
    ("del_before_backward", "points_named", 19886692, 0.1, "exact"),
    ("accumulate", "frames", 5316320, 4.2, "about"),
    ("bfloat16", "frames", 10891326, 0.4, "about"),
    ("no_grad", "frames_eval", 7063732, 16.2, "up_to"),  # a loop over time names its gates
    ("accumulate", "perceiver", 2823076, 1.3, "about"),
    ("bfloat16", "perceiver", 4760920, 5.6, "about"),
    ("checkpoint", "perceiver", 4021676, 0.2, "about"),
    ("no_grad", "perceiver_eval", 2038676, 1.5, "about"),
    ("accumulate", "integrated", 1070520, 1, "about"),
    ("bfloat16", "integrated", 1906068, 0.6, "about"),
    ("no_grad", "integrated_eval", 527504, 5.4, "about"),
    ("detach", "integrated_total", 6891104, 33.4, "up_to"),  # loss names the last graph until it is bound again
    # record_tutorial.py
    ("del_results", "tutorial_del", 786432, 0.1, "up_to"),
    ("del_before_backward", "tutorial_logits", 7267208, 0.1, "exact"),
    ("no_grad", "tutorial_evaluate", 1850408, 0.1, "up_to"),
    ("no_grad", "tutorial_validate", 2648144, 0.1, "up_to"),
    ("detach", "tutorial_total", 1723440, 25, "up_to"),  # loss names the last graph until it is bound again
    ("accumulate", "tutorial_train", 3533696, 2.2, "about"),
    ("checkpoint", "tutorial_train", 3324224, 0.2, "about"),
    ("bfloat16", "tutorial_train", 3120580, 5.3, "about"),
)
# checkpoints of each Nth layer: recording, N, the peak of the program with these, how far the saving may be off in percent
EVERY = (("tutorial_train", 2, 4249024, 1), ("tutorial_train", 3, 4768512, 1), ("swin", 2, 6533888, 3.4))
# several together, recording, the peak of the program with all of them, how far the saving may be off in percent
TOGETHER = (
    ("accumulate,no_grad", "gan", 2578596, 0.2),
    ("no_grad,bfloat16", "gan", 3196248, 0.1),
    ("checkpoint,accumulate", "resnet", 3215016, 0.3),
    ("checkpoint,bfloat16", "vit", 1701244, 2.5),
    ("bfloat16,accumulate", "vit", 1638612, 0.7),
    ("checkpoint,accumulate,bfloat16", "vit", 1335700, 1.1),
    ("checkpoint,accumulate", "tutorial_train", 2823936, 0.7),
)
# --verify: before, after, what was changed (None: to be found), further options, the exit code, a word of the answer
VERIFIED = (
    ("tutorial_del", "tutorial_del_del", None, (), 0, "del_results"),
    ("tutorial_train", "tutorial_train_parts", None, (), 0, "accumulate is predicted for 4 micro-batches"),  # of a quarter each
    ("tutorial_train", "tutorial_train_autocast", None, (), 3, "keeps its weights in float32"),
    ("gpt_adamw", "gpt_ckpt", None, (), 0, "checkpoint"),
    ("gpt_adamw", "gpt_ckpt", "checkpoint", (), 0, "holds"),
    ("gpt_adamw", "gpt_ckpt", "checkpoint", ("--tolerance", "0%"), 0, "holds"),  # within 1 % of the peak
    ("gpt_adamw", "gpt_ckpt", "accumulate", (), 3, "does not show accumulate: it has no more backward passes"),  # though as much was saved
    ("tutorial_train", "tutorial_train_parts", "checkpoint", (), 3, "does not show checkpoint: it computes nothing again"),  # the same
    ("tutorial_train", "tutorial_train_parts", "accumulate,checkpoint", (), 3, "does not show checkpoint"),
    ("mlp_grad", "mlp_grad", "no_grad", (), 3, "does not show no_grad: it still builds graphs"),
    ("tutorial_del", "tutorial_del", "del_results", (), 3, "does not show del_results: it still holds"),
    ("tutorial_del", "tutorial_del_del", "del_results", (), 0, "holds"),
    ("gpt_total", "gpt_total", "detach", (), 3, "does not show detach: it still keeps"),
    ("mlp_wide_late", "mlp_wide_late", "zero_grad_early", (), 3, "does not show zero_grad_early: it still holds"),
    ("mlp_big_keep", "mlp_big_keep", "set_to_none", (), 3, "does not show set_to_none: it still fills"),
    ("mlp_wide_foreach", "mlp_wide_foreach", "foreach_false", (), 3, "does not show foreach_false: it does not step"),
    ("mlp_wide_foreach", "mlp_wide_foreach", "fused", (), 3, "does not show fused: it has no fused step"),
    ("gpt_vocab", "gpt_vocab", "chunked_loss", (), 3, "does not show chunked_loss: it still makes"),
    ("cnn_preload", "cnn_preload", "load_on_demand", (), 3, "does not show load_on_demand: it still makes"),
    ("tutorial_logits", "tutorial_logits", "del_before_backward", (), 3, "does not show del_before_backward: it still holds"),
    ("cnn_b32", "cnn_b32", "bfloat16", (), 3, "still computes in float32"),
    ("gpt_adamw", "gpt_ckpt", "del_before_backward", (), 3, "does not show del_before_backward: it still holds"),  # though more was saved
    ("gpt_adamw", "gpt_ckpt", "checkpoint,accumulate", (), 3, "no more backward passes"),
    ("gpt_adamw", "gpt_ckpt", "checkpoint,zero_grad_early", (), 3, "zero_grad_early does not apply to run 'gpt_adamw': no gradient"),
    ("mlp_grad", "mlp_nograd", None, (), 0, "no_grad"),
    ("mlp_parts_1", "mlp_parts_8", None, (), 0, "predicted for 8 micro-batches, as many as the changed program runs"),
    ("mlp_parts_1", "mlp_parts_8", "accumulate", ("--tolerance", "0"), 0, "holds"),
    ("mlp_parts_1", "mlp_parts_8", "accumulate", ("--accumulate", "2"), 0, "saved more"),
    ("mlp_parts_1", "mlp_parts_8", "accumulate", ("--accumulate", "256"), 1, "off"),
    ("keep_gradients", "keep_gradients_not", "stop_keeping", (), 0, "holds"),
    ("keep_hooks", "keep_hooks_not", "stop_keeping", (), 0, "saved more"),
    ("keep_hooks", "keep_hooks_not", None, (), 0, "stop_keeping"),
    ("keep_features", "keep_features_bounded", None, (), 0, "holds"),
    ("keep_weights", "keep_weights_not", None, (), 0, "stop_keeping"),
    ("keep_weights", "keep_weights_no_grad", "no_grad", (), 0, "holds"),  # the data of the evaluation are no batch
    ("keep_graph", "keep_graph_small", None, (), 3, "0.25 times as large"),  # though an evaluation has data as large as before
    ("keep_hooks", "keep_graph_small", None, (), 3, "are of another size than those of"),  # what is left are labels, an eighth as large
    ("keep_weights", "keep_weights_parts", "accumulate", (), 1, "off"),  # of which it says so
    ("type_float32", "type_autocast", "bfloat16", (), 3, "keeps its weights in float32"),
    ("type_float32", "type_autocast", None, (), 3, "keeps its weights in float32"),
    ("type_float32", "type_bfloat16", "bfloat16", (), 0, "up_to"),  # products copy an operand
    ("type_float32", "type_cast", "bfloat16", (), 0, "holds"),  # its data are copies
    ("type_encoder_float32", "type_encoder_bfloat16", "bfloat16", ("--tolerance", "5%"), 0, "holds"),  # attention stays float32
    ("keep_hooks", "keep_hooks", "stop_keeping", (), 3, "still keeps as much from step to step"),
    ("keep_hooks_not", "keep_hooks", "stop_keeping", (), 3, "does not apply"),
    ("diffusion_sample", "diffusion_sample_no_grad", None, (), 0, "up_to"),
    ("diffusion_sample", "diffusion_sample_no_grad", "no_grad", ("--tolerance", "5"), 0, "holds"),  # "up to" that
    ("gpt_adamw", "gpt_adamw", "checkpoint", (), 3, "does not show checkpoint"),
    ("gpt_adamw", "gpt_adamw", None, (), 3, "nothing that was advised"),
    ("gpt_ckpt", "gpt_adamw", None, (), 3, "is higher than that of 'gpt_ckpt'"),
    ("gpt_ckpt", "gpt_adamw", "chunked_loss", (), 3, "does not show chunked_loss: it still makes"),  # though of a higher peak it is no twentieth
    ("gpt_adamw", "gpt_ckpt", "zero_grad_early", (), 3, "does not apply"),
    ("gpt_adamw", "gpt_accum", "accumulate", (), 3, "optimizer steps"),
    ("gpt_adamw", "mlp_adam", "checkpoint", (), 3, "different models"),
    ("embedded", "embedded_sparse", None, (), 3, "nothing that was advised"),  # one model, though gradients are of other sizes
    ("embedded_sparse", "embedded", None, (), 3, "is higher than that of 'embedded_sparse'"),
    ("embedded_sparse", "words_accumulated", None, (), 3, "different models"),
    ("cnn_b32", "cnn_b8", "accumulate", (), 3, "times as large"),
    (os.path.join(os.environ["SAMPLES"], "cnn_b32", "trace.json.gz"), os.path.join(os.environ["SAMPLES"], "cnn_b16", "trace.json.gz"), "bfloat16", (), 3, "times as large"),  # as bfloat16 would be, too
    (os.path.join(os.environ["SAMPLES"], "cnn_b32", "trace.json.gz"), os.path.join(os.environ["SAMPLES"], "cnn_b16", "trace.json.gz"), "accumulate", ("--accumulate", "2"), 3, "times as large"),
    ("gpt_adamw", os.path.join(os.environ["SAMPLES"], "heap", "massif_200k.out"), "checkpoint", (), 3, "Cannot tell"),
    ("gpt_adamw", os.path.join(os.environ["SAMPLES"], "snapshots", "basic.pickle"), "checkpoint", (), 3, "Cannot tell"),
    ("gpt_adamw", "nothing", "checkpoint", (), 2, "no run"),
    ("gpt_adamw", "gpt_ckpt", "checkpoint", ("--tolerance", "x"), 2, "--tolerance"),
)
# What must not be advised, as there is nothing to gain.
SILENT = {
    "quantized_dynamic": ("bfloat16",),  # its kernels take float32 alone
    "quantized_built": ("bfloat16",),  # the peak is in building it, before it is converted
    "cnn_nograd": ("no_grad", "detach", "checkpoint", "accumulate", "del_results"),
    "tutorial_del_del": ("del_results", "del_before_backward", "no_grad", "stop_keeping"),
    "cnn_nograd_cold": ("no_grad", "detach", "checkpoint", "accumulate"),
    "diffusion_sample_no_grad": ("no_grad",),
    "mlp_metrics_nograd": ("no_grad",),
    "mlp_ema_nograd": ("no_grad",),
    "mlp_nograd": ("no_grad", "detach"),
    "gpt_ckpt": ("checkpoint", "no_grad", "detach"),
    "gpt_eval_held": ("detach", "clone", "stop_keeping"),
    "mlp_slice_kept": ("detach", "clone", "no_grad"),  # backward has run, or x[:1].detach(): no graph is left
    "mlp_slice_graph": ("clone", "stop_keeping"),
    "cnn_total": ("clone", "stop_keeping"),
    "mixer_foreach": ("foreach_false", "fused"),  # the optimizer's step is not the peak
    "keep_outputs_not": ("clone", "detach", "stop_keeping"),
    "keep_gradients": ("zero_grad_early",),  # a list has taken them
    "keep_hooked_gradients": ("zero_grad_early", "set_to_none"),
    "keep_weights": ("detach", "clone"),  # no op of what is kept left a node
    "keep_replay": ("detach", "clone"),
    "keep_states": ("detach", "clone"),
    "keep_hooks_not": ("clone", "detach", "stop_keeping"),
    "keep_features_bounded": ("clone", "detach", "stop_keeping"),
    "keep_tokens_cat": ("clone", "detach", "stop_keeping"),
    "attention_kept": ("checkpoint", "detach", "no_grad"),  # computed again, it would be kept twice: 7216208 were
    "cnn_preload": ("no_grad", "detach", "clone"),
    "mlp_adam": ("zero_grad_early", "no_grad", "load_on_demand"),
    "cnn_sgd": ("no_grad", "detach", "clone", "stop_keeping", "foreach_false"),
    "gpt_adamw": ("no_grad", "detach", "clone", "stop_keeping", "zero_grad_early"),
}
# What programs keep more after each step, as they count it: bytes and blocks; and what of earlier steps is alive at the peak
KEEP = {
    "keep_outputs": (5120, 1, 7 * 5120),
    "keep_gradients": (65536, 1, 7 * 65536),
    "keep_hooks": (65536, 1, 7 * 65536),
    "keep_features": (131072, 1, 7 * 131072),
    "keep_tokens": (65536, 2, 11 * 65536),  # meant to grow: up to that
    "keep_replay": (4096, 16, 9 * 4096),  # of the model and its copy nothing
    "keep_states": (66048, 2, 8 * 66048),
}
# runs with their batch sizes, the size asked for, its peak, how far off in percent, from blocks, peaks or one run
BATCHES = (
    (("cnn_b8:8", "cnn_sgd:16"), 32, 68936008, 0, "blocks"),
    (("cnn_sgd:16", "cnn_b8:8"), 32, 68936008, 0, "blocks"),
    (("cnn_sgd:16",), 32, 68936008, 0.1, "one run"),
    (("cnn_b32:32",), 8, 17521864, 0.5, "one run"),
    (("tutorial_train:256",), 1024, 18764672, 0.1, "one run"),
    (("mlp_ema_b8:8",), 128, 427528, 0.1, "one run"),
    (("mlp_list_b32:32",), 128, 541448, 0.1, "one run"),
    (("mlp_list_b64:64",), 128, 541448, 0.1, "one run"),
)

# The class that a line of code is written with, and what others do not have.
CODE = {
    "optim_adamax": {"foreach_false": "torch.optim.Adamax(..., foreach=False)", "fused": None},
    "optim_adadelta": {"foreach_false": "torch.optim.Adadelta(..., foreach=False)", "fused": None},
    "optim_rms": {"foreach_false": "torch.optim.RMSprop(..., foreach=False)", "fused": None},
    "optim_adagrad": {"foreach_false": "torch.optim.Adagrad(..., foreach=False)", "fused": "torch.optim.Adagrad(..., fused=True)"},
    "mlp_wide_foreach": {"foreach_false": "torch.optim.Adam(..., foreach=False)", "fused": "torch.optim.Adam(..., fused=True)"},
}

m = mt.Matrix()
files = {os.path.basename(f)[: -len(".json.zst")]: f for folder in ("categories", "advice") for f in glob.glob(f"{RECORDINGS}/{folder}/*.json.zst")}
peaks = {run.name: run.devices[0]["peak_b"] for run in m.imported(sorted(files.items()))}


def advice(run, *options):
    """What applies, by its name."""
    return {row["advice"]: row for row in m.rows("advise", run, *options) if row["applies"]}


def replay(run, changed):
    """The peak when blocks have the sizes that changed() gives them: added up record by record."""
    level = peak = 0
    steps = []
    for b in m.query(f"SELECT bytes_b, alloc_record, freed_record, rule FROM alloc JOIN run r ON alloc.id >= r.alloc_first AND alloc.id < r.alloc_first + r.alloc_n WHERE r.name = '{run}'"):
        size = changed(b)
        steps.append((b["alloc_record"], size))
        if b["freed_record"] is not None:
            steps.append((b["freed_record"], -size))
    for _, size in sorted(steps):
        level += size
        peak = max(peak, level)
    return peak


for what, run, recorded, off, bound in PAIRS:
    row = advice(run, "--all").get(what)
    if not m.check(row, run, what, "is advised"):
        continue
    want = peaks[run] - recorded
    m.check(row["peak_b"] == peaks[run] and row["new_peak_b"] + row["saving_b"] == row["peak_b"], run, what, "adds up", row)
    m.check(abs(row["saving_b"] - want) <= abs(want) * off / 100, run, what, "saves", row["saving_b"], "not", want)
    m.check(row["bound"] == bound, run, what, "is", row["bound"], "not", bound)
    named = re.search(r"until (?:their functions return|they are bound again), the peak is ([\d.]+) (MiB|KiB)", row["because"])
    if named:
        most = float(named[1]) * (1 << 20 if named[2] == "MiB" else 1 << 10)
        m.check(row["bound"] == "up_to" and row["new_peak_b"] * 0.999 <= recorded <= most * 1.02, run, what, "lies between", row["new_peak_b"], recorded, most)
    m.check(what != "del_results" or row["saving_b"] >= want, run, what, "promises the most", row["saving_b"], want)
    if "keeps the data, too" in row["because"]:
        m.check(row["bound"] == "up_to" and row["new_peak_b"] <= recorded, run, what, "promises the most", row["new_peak_b"], recorded)
    m.check(0 < row["at_peak_b"] <= row["peak_b"] and row["site"] and row["because"] and row["how"], run, what, "has evidence", row)
# nn.MultiheadAttention takes another path without a graph: a promise without it, and what it would be with the other off
for run, recorded, off, words in (("encoder_eval", 11411712, 2, "is about 4.383 MiB"), ("attention_eval", 4670720, 2, "is about 2.267 MiB"), ("unet_eval", 7348044, 12, "is at least 3.369 MiB")):
    row = advice(run, "--all")["no_grad"]
    m.check(abs(row["new_peak_b"] - recorded) <= recorded * off / 100, run, "the new peak", row["new_peak_b"], "not", recorded)
    m.check("set_fastpath_enabled(False) the peak " + words in row["because"], run, "the other path", row["because"])
whole = advice(os.path.join(os.environ["SAMPLES"], "basic", "trace.json.gz"), "--all").get("del_results", {"saving_b": 0, "because": ""})
m.check(whole["saving_b"] == 524300 and "if expressions such as f(g(x)) stay whole" in whole["because"] and "the peak is at least 2.5 MiB" in whole["because"], "a name that is bound again", whole)
for run, words in SILENT.items():
    found = advice(run)
    for what in words:
        m.check(what not in found, run, "has nothing to gain by", what, found.get(what))
for trace in (os.path.join(RECORDINGS, "torch", "2.13.0", "cache_steps"), os.path.join(os.environ["SAMPLES"], "cache_steps")):
    rows = m.rows("advise", os.path.join(trace, "trace.json.gz"), "--all", "--min-saving", "0")
    m.check(not any("cache" in site["name"] for row in rows if row["advice"] == "del_results" and row["applies"] for site in row["sites"]), trace, "a cache keeps them")
said = m.run("advise", "gpt_ckpt", "--only", "no_grad")[1]
m.check("no change that was tried would lower the peak: it holds parameters 2.106 MiB, " in said, "why the peak is what it is", said)
view = advice("mlp_slice_kept").get("stop_keeping", {"because": ""})["because"]
m.check("aten::slice makes a view" in view and "no graph holds them" in view, "a view holds all of its tensor", view)
evaluated = advice("keep_weights", "--all")["accumulate"]
m.check(evaluated["bound"] == "up_to" and "is an evaluation, the peak is 3.995 MiB" in evaluated["because"] and peaks["keep_weights_parts"] == peaks["keep_weights"], "parts of a batch are none of an evaluation", evaluated)
kept = {row["advice"]: row for row in m.rows("advise", "attention_kept", "--all")}
m.check("2 new blocks a step (512 KiB), most from aten::softmax" in kept["stop_keeping"]["because"] and "view" not in kept["stop_keeping"]["because"], "a view of something else", kept["stop_keeping"])
because = advice("served_kept", "--all")["stop_keeping"]["because"]
m.check("most from aten::cat" in because and "view" not in because, "a view of what would be as large in another type", because)
m.check("x.mean().item()" in kept["stop_keeping"]["how"] and ".cpu()" not in kept["stop_keeping"]["how"], "on a CPU nothing is moved there", kept["stop_keeping"]["how"])
m.check("something keeps what aten::softmax makes" in kept["checkpoint"]["because"], "why no checkpoint", kept["checkpoint"])
for run, (bytes_b, blocks_n, earlier_b) in KEEP.items():
    first = m.rows("advise", run, "--all")[0]
    m.check(first["advice"] == "stop_keeping" and first["bound"] == "up_to" and first["price"] is None, run, "keeps, which comes first", first)
    m.check((first["per_step_b"], first["per_step_n"], first["at_peak_b"]) == (bytes_b, blocks_n, earlier_b), run, "keeps more in each step", first)
for run, words in (("keep_hooks", "448 KiB of it made in earlier steps: see memtool leaks"), ("keep_hooks_not", None)):
    line = m.run("peak", run)[1].split("\n")[1]
    m.check(line.endswith(words) if words else "earlier" not in line, run, "peak says what is of earlier steps", line)
_, small, _ = m.run("advise", "keep_outputs")
m.check("stop_keeping (3.5 %, but it grows by 5 KiB a step)" in small, "small savings that grow say so", small)
for run in ("mlp_adam", "mlp_metrics_nograd", "mlp_ema_nograd"):
    m.check("no_grad" not in advice(run, "--all"), run, "keeps nothing for a backward pass that never comes")
for run in ("keep_batch", "keep_prefetched", "keep_masks"):
    m.check("clone" not in advice(run, "--all"), run, "has what is still to be used")
held = advice("mlp_logits_kept", "--all").get("del_before_backward", {"bound": "up_to"})
m.check(held["bound"] == "up_to", "what an op may keep for backward is no sure saving", held)
for run, codes in CODE.items():
    found = advice(run, "--all")
    for what, code in codes.items():
        m.check(found.get(what, {}).get("how") == code, run, what, "is written", found.get(what), "not", code)
for run in peaks:
    every, some = advice(run, "--all"), advice(run)
    m.check(replay(run, lambda b: b["bytes_b"]) == peaks[run], run, "blocks add up to the peak")
    m.check(all(row["new_peak_b"] >= 0 for row in every.values()), run, "no peak below 0")
    m.check(set(some) <= set(every) and all(row["saving_pct"] >= 5 for row in some.values()), run, "shows what saves 5 %")
    for what in every:
        one = advice(run, "--all", "--only", what)
        m.check(one == {what: every[what]}, run, "--only", what, one)
    if "bfloat16" in every:
        half = every["bfloat16"]
        m.check(half["new_peak_b"] >= half["peak_b"] // 2 - 8 * half["at_peak_n"], run, "bfloat16 halves at most")
for run, n, recorded, off in EVERY:
    each, row = (advice(run, "--all", "--only", "checkpoint", *more)["checkpoint"] for more in ((), ("--every", str(n))))
    want = peaks[run] - recorded
    m.check(abs(row["saving_b"] - want) <= want * off / 100, run, "--every", n, row["saving_b"], "not", want)
    m.check(f"i % {n} == 0" in row["how"] and f"--only checkpoint --every {n}" in row["verify"], run, "--every: how", row)
    m.check(row["because"].split(" of ")[0] == str((int(each["because"].split()[0]) - 1) // n + 1) and row["price_ns"] < each["price_ns"], run, "--every: what it costs", row, each)
for words, run, recorded, off in TOGETHER:
    rows = advice(run, "--all", "--only", words)
    joined = [row for what, row in rows.items() if "+" in what]
    if m.check(len(rows) == len(words.split(",")) + 1 and len(joined) == 1, run, words, "are taken together", list(rows)):
        want = peaks[run] - recorded
        m.check(set(joined[0]["advice"].split("+")) == set(words.split(",")), run, words, joined[0])
        m.check(abs(joined[0]["saving_b"] - want) <= want * off / 100, run, words, "save", joined[0]["saving_b"], "not", want)
    turned = advice(run, "--all", "--only", ",".join(reversed(words.split(","))))
    m.check(turned == rows, run, words, "in any order", turned)
both = advice("mlp_wide_foreach", "--all", "--only", "fused,foreach_false")
m.check(set(both) == {"fused", "foreach_false"}, "of what does the same one is enough", list(both))
for before, after, only, options, code, word in VERIFIED:
    args = ("advise", before, "--verify", after, *(("--only", only) if only else ()), *options)
    got, out, err = m.run(*args, codes=(0, 1, 2, 3))
    m.check(got == code and word in out + err, *args, "exit", got, "not", code, out, err)
    if code < 2:
        rows = [row for row in m.json(*args, codes=(0, 1))["rows"] if row["verdict"]]
        m.check(("up_to is the most" in out) == (rows[0]["bound"] == "up_to"), *args, "explains what holds", out)
        m.check(rows[0]["bound"] != "up_to" or rows[0]["error_pct"] is None, *args, "no error of what saves at most", rows)
        m.check(len(rows) == 1 and rows[0]["recorded_peak_b"] == peaks[after], *args, "recorded", rows)
        m.check(rows[0]["saved_b"] == peaks[before] - peaks[after] and rows[0]["new_peak_b"] + rows[0]["saving_b"] == peaks[before], *args, "adds up", rows)
# of a part of a program nothing can be told: not what it saved, nor what it would save
whole = json.loads(subprocess.run(["zstd", "-dc", files["gpt_adamw"]], capture_output=True, check=True).stdout)
text = json.dumps(whole).encode()
with open("cut.json", "wb") as f:
    f.write(text[: int(len(text) * 0.95)])
m.run("import", "--partial", "cut.json", "--name", "cut")
for before, after in (("gpt_adamw", "cut"), ("cut", "gpt_ckpt"), ("cut", "cut")):
    for only in ((), ("--only", "checkpoint")):
        _, out, _ = m.run("advise", before, "--verify", after, *only, "--format", "json", codes=(3,))
        answer = json.loads(out)
        why = answer["cannot_tell"]["why"]
        m.check(why == "run 'cut' was read from a file that ends early.", before, after, only, why)
        m.check(not answer["rows"] and answer["notes"], before, after, only, "notes of the runs", answer)
# a free that nobody saw: with its block, or without, another answer
with gzip.open(os.path.join(os.environ["SAMPLES"], "checkpoint", "trace.json.gz"), "rt") as f:
    unseen = json.load(f)
records = [e for e in unseen["traceEvents"] if e.get("name") == "[memory]"]
unseen["traceEvents"].remove([e for e in records if e["args"]["Bytes"] < -300000][20])
for e in records:
    e["args"].pop("Total Allocated", None)
with open("unseen.json", "w") as f:
    json.dump(unseen, f)
_, out, _ = m.run("advise", os.path.join(os.environ["SAMPLES"], "no_checkpoint", "trace.json.gz"), "--verify", "unseen.json", "--only", "checkpoint", codes=(3,))
m.check("Cannot tell: 512 KiB of the peak of run 'unseen.json' may not have been alive" in out, "a free that nobody saw", out)
# a device that is not the one with most memory, in both
for name in ("gpt_adamw", "gpt_ckpt", "cnn_sgd"):
    trace = json.loads(subprocess.run(["zstd", "-dc", files[name]], capture_output=True, check=True).stdout)
    at = next(e for e in trace["traceEvents"] if e.get("name") == "[memory]")
    end = max(e["ts"] + e.get("dur", 0) for e in trace["traceEvents"] if "ts" in e)
    more = {**at, "ts": end, "args": {**at["args"], "Device Type": 1, "Device Id": 0, "Bytes": 1 << 40, "Addr": 1 << 44, "Total Allocated": 1 << 40}}
    trace["traceEvents"].append(more)
    with open("both.json", "w") as f:
        json.dump(trace, f)
    m.run("import", "both.json", "--name", name + "_both")
for after, code, word in (("gpt_ckpt_both", 0, "holds"), ("gpt_ckpt", 0, "holds")):
    _, out, _ = m.run("advise", "gpt_adamw_both", "--verify", after, "--only", "checkpoint", "--device", "cpu", codes=(code,))
    m.check(word in out and "cpu" in out, after, "--device", out)
_, out, err = m.run("advise", "gpt_adamw_both", "--verify", "gpt_ckpt", "--device", "cuda:0", codes=(3,))
m.check("is about cpu, not cuda:0" in out + err, "a device of one run alone", out, err)
for runs, n, peak, off, method in BATCHES:
    rows = m.rows("advise", *runs, "--batch", str(n))
    m.check(rows and rows[-1]["batch_n"] == n and rows[-1]["method"] == method, runs, n, rows)
    m.check(rows and abs(rows[-1]["new_peak_b"] - peak) <= peak * off / 100, runs, n, "is", rows and rows[-1]["new_peak_b"], "not", peak)
told = m.rows("advise", "cnn_b8:8", "cnn_sgd_both:16", "--batch", "32")
m.check(told and abs(told[-1]["new_peak_b"] - 68936008) < 1000, "the device is that of the first run", told)
_, _, err = m.run("advise", "cnn_sgd_both:16", "cnn_b8:8", "--batch", "32", codes=(2,))
m.check("has no device 'cuda:0'" in err, "which the others must have", err)
with open("based.json", "wb") as f:
    f.write(subprocess.run(["zstd", "-dc", files["cnn_b8"]], capture_output=True, check=True).stdout + b"\n")
m.run("import", "based.json", "--base", "8MiB", "--name", "cnn_b8_based")
_, out, _ = m.run("advise", "cnn_b8_based:8", "cnn_sgd:16", "--batch", "32", "--format", "json", codes=(3,))
m.check("count memory allocated before their recording" in json.loads(out)["cannot_tell"]["why"], "what is older counts in one run alone", out[:400])
for run, real in (("mlp_list_b64:64", 541448), ("mlp_amp_b8:8", 361224)):
    told = m.json("advise", run, "--batch", "128")
    m.check(any("is up to that, and" in note for note in told["notes"]), run, "says what it does not know", told["notes"])
    m.check(told["rows"][-1]["new_peak_b"] >= real, run, "is at most", told["rows"][-1], "not", real)
m.check(not m.json("advise", "mlp_ema_b8:8", "--batch", "128")["notes"], "averages of weights stay")
fit = m.rows("advise", "cnn_b8:8", "cnn_sgd:16", "--fit", str(68936008))
m.check(fit[-2]["batch_n"] == 32 and fit[-1]["batch_n"] == 33 and fit[-1]["new_peak_b"] > 68936008, "the largest batch that fits", fit)
third = m.rows("advise", "cnn_b8:8", "cnn_sgd:16", "cnn_b32:32", "--batch", "64")
m.check([row["batch_n"] for row in third] == [8, 16, 32, 64] and third[2]["new_peak_b"] == third[2]["peak_b"], "a third run agrees", third)
# runs of which nothing can be told: code 3, and no row but of what was recorded
for args, sizes, word in (
    (("cnn_b8:8", "cnn_sgd:16", "cnn_b32:48", "--batch", "64"), [8, 16, 48], "third run"),
    (("mlp_tiny_b8:8", "mlp_tiny_b16:16", "--fit", "24GiB"), [8, 16], "how the peak grows"),
    (("mlp_tiny_b8:8", "mlp_tiny_b16:16", "--batch", "1024"), [8, 16], "how the peak grows"),
    (("mlp_nograd:64", "mlp_nograd:65", "--fit", "24GiB"), [64, 65], "how the peak grows"),
    (("cnn_b8:8", "--fit", "100000TiB"), [8], "how the peak grows"),
    (("bert:8", "cnn_b8:32", "--batch", "64"), [8, 32], "different models"),
    (("optim_adagrad:8", "optim_adamax:16", "--batch", "32"), [8, 16], "as much state in runs 'optim_adagrad' and 'optim_adamax': 258 KiB and 516 KiB"),
    (("mlp_adam_warm:8", "mlp_adam:16", "--batch", "32"), [8, 16], "do not make as much state"),  # one made it before its recording
):
    code, told, err = m.run("advise", *args, "--format", "json", codes=(3,))
    answer = json.loads(told)
    m.check([row["batch_n"] for row in answer["rows"]] == sizes, args, answer["rows"])
    m.check(answer["answer"] is None and word in answer["cannot_tell"]["why"], args, "says", answer)
for args, word in (
    (("cnn_b8:8", "cnn_sgd:8", "--batch", "32"), "both runs"),
    (("cnn_b8", "--batch", "32"), "no batch size"),
    (("cnn_b8:8",), "nothing is asked"),
    (("cnn_b8", "cnn_sgd"), "one run"),
    (("cnn_b8", "--only", "checkpiont"), "checkpoint"),
    (("cnn_b8", "--only", "checkpoint,checkpoint"), "--only names 'checkpoint' twice"),
    (("cnn_b8", "--only", "fused,checkpoint,fused"), "--only names 'fused' twice"),
    (("cnn_b8", "--only", "checkpoint,"), "there is no advice ''"),
    (("cnn_b8", "--only", ","), "there is no advice ''"),
    (("cnn_b8", "--only", "checkpoint,,fused"), "there is no advice ''"),
    (("gpt_adamw", "--verify", "gpt_ckpt", "--only", "checkpoint,checkpoint"), "twice"),
    (("cnn_b8", "--only", "autocats"), "autocast"),
    (("cnn_b8", "--min-saving", "x"), "--min-saving"),
    (("cnn_b8", "--chunks", "1"), "--chunks is 2 or more"),
    (("cnn_b8", "--every", "1"), "--every is 2 or more"),
    (("cnn_b8:8", "--every", "2", "--fit", "1GiB"), "--every is for advice"),
    (("cnn_b8", "--chunks", "1048577"), "1048576 at most"),
    (("cnn_b8:8", "--batch", "0"), "--batch is 1 or more"),
    (("cnn_b8:8", "--fit", "x"), "--fit"),
    (("cnn_b8:8", "--only", "checkpoint", "--fit", "1GiB"), "--only is for advice"),
    (("cnn_b8:8", "--accumulate", "8", "--fit", "1GiB"), "--accumulate is for advice"),
    (("cnn_b8", "--accumulate", "1000000"), "cannot be cut into 1000000 parts"),
    (("cnn_b8", "--accumulate", "1"), "2 or more"),
    (("cnn_b8", "--tolerance", "5"), "--tolerance is of --verify"),
):
    code, _, err = m.run("advise", *args, codes=(2,))
    m.check(word in err, args, "says", err)
# what no recording tells
for only, word in (("pin_memory", "host_memory_stats()"), ("checkpoint,pin_memory", "pinned memory is in no trace and no snapshot"), ("autocast", "--only bfloat16")):
    for more in ((), ("--verify", "gpt_ckpt")):
        _, out, err = m.run("advise", "gpt_adamw", "--only", only, *more, codes=(3,))
        m.check("Cannot tell" in out and word in out, only, more, "is in no recording", out, err)
m.finish(300)
