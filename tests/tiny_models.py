"""A tiny language model and a tiny text encoder, randomly initialised, saved as tests want them."""


def words_tokenizer(texts):
    """Splits at spaces and punctuation; knows the words of some texts."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    split = pre_tokenizers.Split(Regex(r"\w+|[^\w\s]|\s+"), "isolated")
    known = sorted({piece for text in texts for piece, _ in split.pre_tokenize_str(text)})
    vocabulary = {word: i for i, word in enumerate(["[UNK]", "[PAD]", "[EOS]", *known])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = split
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]", "eos_token": "[EOS]"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def save_language_model(directory, texts, seed=0, blocks=4):
    """A causal language model of the Qwen3 configuration."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    tokenizer = words_tokenizer(texts)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=blocks,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=512,
        initializer_range=0.2,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        Qwen3ForCausalLM(config).save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return str(directory)


def save_text_encoder(directory, texts, seed=0):
    """A sentence-transformers model: a small BERT and the mean of its tokens."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel

    tokenizer = words_tokenizer(texts)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=128,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        BertModel(config).save_pretrained(directory / "bert")
    tokenizer.save_pretrained(directory / "bert")
    words = Transformer(str(directory / "bert"), max_seq_length=64)
    SentenceTransformer(modules=[words, Pooling(16)], device="cpu").save(str(directory / "encoder"))
    return str(directory / "encoder")
